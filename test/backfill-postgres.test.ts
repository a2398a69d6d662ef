import { after, before, test } from 'node:test'
import { postgres } from 'counterfoil/postgres'
import { missing } from '../packages/counterfoil/src/store/postgres/fixtures/binaries.ts'
import { Server } from '../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { skipLoudly } from '../packages/counterfoil/src/testing/skip.ts'
import { backfillByProcesses } from './backfill.ts'

const why = missing(17)
if (why === undefined) {
  let server: Server
  before(async () => {
    server = await Server.start(17)
  })
  after(() => server.dispose())
  let worlds = 0
  backfillByProcesses({
    environment: () => ({
      COUNTERFOIL_TEST_POSTGRES: server.url(),
      COUNTERFOIL_TEST_SCHEMA: `world_${++worlds}`,
    }),
    store: ({ environment }) => postgres(server.url(), { schema: environment.COUNTERFOIL_TEST_SCHEMA! }),
  })
} else {
  test('PostgreSQL 17', (t) => skipLoudly(t, why))
}
