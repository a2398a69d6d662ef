import type { Clock, Log } from '../domain/index.ts'
import { type Arrival, boundedLog } from '../intake/index.ts'
import type { ConsumerPorts } from './consumer.ts'
import { takeMessage } from './take-message.ts'

export interface ConsumerAbout {
  /** Name of the producer that the messages are deliveries of. */
  readonly producer: string
  readonly broker: string
  readonly receive: (arrival: Arrival) => Promise<Response>
  readonly clock: Clock
  readonly log: Log
}

/** What a consumer is started with: the way to intake, and a log that a flood of bad messages cannot fill a disk with. */
export function consumerPorts({ producer, broker, receive, clock, log }: ConsumerAbout): ConsumerPorts {
  const bounded = boundedLog(log, clock)
  const taken = takeMessage(producer, receive)
  return {
    async take(message) {
      const verdict = await taken(message)
      if (verdict.kind === 'reject') {
        const { code, why } = verdict
        bounded('warn', 'a message was refused for good and put aside at its broker', {
          producer,
          broker,
          position: message.position,
          code,
          why,
        })
      }
      return verdict
    },
    onFault: (why) =>
      bounded('warn', 'a consumer has trouble with its broker; it tries again', { producer, broker, why }),
  }
}
