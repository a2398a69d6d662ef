import { conformance } from './conformance.ts'
import { MemoryBroker } from './fixtures/memory-broker.ts'

conformance('a broker in memory', async () => new MemoryBroker(), { deduplicates: 'and says so' })
