import { conformance } from '../conformance.ts'
import { temporaryStore } from './fixtures/temporary.ts'

conformance('sqlite', temporaryStore)
