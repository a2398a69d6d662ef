import { conformance } from '../conformance.ts'
import { sqliteService } from '../fixtures/sqlite-service.ts'

conformance('SQLite', sqliteService)
