import { conformance } from '../conformance.ts'
import { NatsBroker } from '../fixtures/nats-broker.ts'

conformance('NATS JetStream', NatsBroker.start, { deduplicates: true })
