import { onPostgres } from './fixtures/on-postgres.ts'
import { quarantineByProcesses } from './quarantine.ts'

onPostgres(quarantineByProcesses)
