import { conformance } from '../conformance.ts'
import { RedisBroker } from '../fixtures/redis-broker.ts'

conformance('Redis Streams', () => RedisBroker.start(null), { deduplicates: false })
conformance('Redis Streams with a duplicate window', () => RedisBroker.start(60_000), {
  deduplicates: true,
  onlyOut: true,
})
