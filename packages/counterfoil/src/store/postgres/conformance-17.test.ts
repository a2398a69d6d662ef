import { conformanceOn } from './fixtures/conformance-on.ts'

conformanceOn(17)
