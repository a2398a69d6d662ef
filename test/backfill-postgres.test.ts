import { backfillByProcesses } from './backfill.ts'
import { onPostgres } from './fixtures/on-postgres.ts'

onPostgres(backfillByProcesses)
