import { join } from 'node:path'
import { sqlite } from 'counterfoil/sqlite'
import { quarantineByProcesses } from './quarantine.ts'

quarantineByProcesses({
  environment: () => ({}),
  store: ({ directory }) => sqlite(join(directory, 'counterfoil.db')),
})
