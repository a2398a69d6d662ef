import { temporaryStore } from '../store/sqlite/fixtures/temporary.ts'
import { backfillsOn } from './fixtures/backfills.ts'

backfillsOn('sqlite', temporaryStore)
