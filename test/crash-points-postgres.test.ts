import { before, beforeEach } from 'node:test'
import type { Store } from 'counterfoil'
import { postgres } from 'counterfoil/postgres'
import { describeOn } from '../packages/counterfoil/src/store/postgres/fixtures/describe-on.ts'
import { emptySchema, urlFor } from '../packages/counterfoil/src/store/postgres/fixtures/temporary.ts'
import { crashPoints } from './crash-points.ts'

describeOn(16, 'on PostgreSQL', (server) => {
  before(() => {
    process.env.COUNTERFOIL_VAULT_KEYS = `test:${Buffer.alloc(32, 'k').toString('base64')}`
  })
  // One schema, emptied; what dies and starts again in a test finds the same.
  beforeEach(() => emptySchema(server, 'world'))
  const store = (): Store =>
    postgres(urlFor(server, 'world'), { schema: 'world', clock: 'caller', maxConnections: 2, maxSessions: 1 })
  crashPoints(() => ({ placeholder: '$1', store }), ['both'])
})
