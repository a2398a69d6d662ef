import type { Clock } from '../domain/index.ts'
import type { Network } from '../recipients/index.ts'
import { type KeySource, keySource } from './key-source.ts'
import type { Producer } from './producer.ts'
import { TokenBucket } from './rate-limit.ts'

/** A producer, with what its deliveries share. */
export interface Gate {
  readonly producer: Producer
  readonly keys: KeySource
  /** Null: as many as come. */
  readonly rate: TokenBucket | null
  /** Beside POST. */
  readonly methods: readonly string[]
  /** All of them, as the header of a 405. */
  readonly allow: string
}

export function gateOf(producer: Producer, network: Pick<Network, 'send'>, clock: Clock): Gate {
  const { keyHosts = [], methods = [] } = producer.kind
  return {
    producer,
    keys: keySource(keyHosts, network, clock),
    rate: producer.rate === undefined ? null : new TokenBucket(producer.rate, clock),
    methods,
    allow: ['POST', ...methods].join(', '),
  }
}
