import { after, before } from 'node:test'
import type { Server } from '../../store/postgres/fixtures/server.ts'
import { conformance } from '../conformance.ts'
import { postgresService, startServer } from '../fixtures/postgres-service.ts'

let server: Server
before(async () => {
  server = await startServer()
})
after(() => server.dispose())

conformance('PostgreSQL', () => postgresService(server))
