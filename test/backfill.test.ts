import { join } from 'node:path'
import { sqlite } from 'counterfoil/sqlite'
import { backfillByProcesses } from './backfill.ts'

backfillByProcesses({
  environment: () => ({}),
  store: ({ directory }) => sqlite(join(directory, 'counterfoil.db')),
})
