import { conformance } from './conformance.ts'
import { AwsBroker } from './fixtures/aws-broker.ts'
import { ServiceBusBroker } from './fixtures/service-bus-broker.ts'

// Neither service can be run here. The clients are the vendors' own and the servers are not: what is shown is what the
// clients make of a server that dies, and that ids, groups and order arrive as they were given.

// fauxqs keeps deduplication ids in memory; the services keep them for their five minutes.
const emulated = { deduplicates: 'silently', forgetsIds: true, onlyOut: true } as const
conformance('SQS (an emulator)', async () => await AwsBroker.start('sqs'), emulated)
conformance('SNS (an emulator)', async () => await AwsBroker.start('sns'), emulated)

const double = { deduplicates: 'silently', cannotProveAway: true, onlyOut: true } as const
conformance('Service Bus (a double)', async () => await ServiceBusBroker.start(), double)
