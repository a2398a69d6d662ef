import { describeOn } from '../store/postgres/fixtures/describe-on.ts'
import { temporaryStores } from '../store/postgres/fixtures/temporary.ts'
import { backfillsOn } from './fixtures/backfills.ts'

describeOn(18, 'backfills', (server) => backfillsOn('postgres', temporaryStores(server)))
