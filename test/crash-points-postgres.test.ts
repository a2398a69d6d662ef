import { after, before, beforeEach, test } from 'node:test'
import type { Store } from 'counterfoil'
import { postgres } from 'counterfoil/postgres'
import { missing } from '../packages/counterfoil/src/store/postgres/fixtures/binaries.ts'
import { Server } from '../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { emptySchema, urlFor } from '../packages/counterfoil/src/store/postgres/fixtures/temporary.ts'
import { skipLoudly } from '../packages/counterfoil/src/testing/skip.ts'
import { crashPoints } from './crash-points.ts'

const why = missing(16)
if (why === undefined) {
  let server: Server
  before(async () => {
    process.env.COUNTERFOIL_VAULT_KEYS = `test:${Buffer.alloc(32, 'k').toString('base64')}`
    server = await Server.start(16)
  })
  after(() => server.dispose())
  // One schema, emptied; what dies and starts again in a test finds the same.
  beforeEach(() => emptySchema(server, 'world'))
  const store = (): Store =>
    postgres(urlFor(server, 'world'), { schema: 'world', clock: 'caller', maxConnections: 2, maxSessions: 1 })
  crashPoints(() => ({ placeholder: '$1', store }), ['both'])
} else {
  test('PostgreSQL 16', (t) => skipLoudly(t, why))
}
