import { setTimeout as wait } from 'node:timers/promises'
import type { BrokerMessage, Consumer, ConsumerPorts, Verdict } from '../consumer.ts'
import { InHand } from '../in-hand.ts'
import type { KafkaMember, KafkaProducer, KafkaReceived } from './client.ts'
import { Progress } from './progress.ts'
import { nameOf } from './publisher.ts'

export interface KafkaConsumerOptions {
  /** Joins the group: called again whenever the member before was lost. */
  readonly member: () => Promise<KafkaMember>
  /** Where records go that are refused for good: a topic that this consumer does not read. */
  readonly deadLetter: { readonly topic: string; readonly producer: KafkaProducer }
  /** Records in hand at once in this process: no more are asked for. Default 64. */
  readonly inFlight?: number
}

const retryMs = { first: 200, last: 5_000 } as const

/**
 * Records of a consumer group. Their offsets are committed after their receipts, and are no identity: a topic that is made
 * anew begins at 0 again. Kafka hands single records back to nobody, so one that has to wait is tried again here, and
 * holds back the offset of its partition meanwhile, not the records after it.
 */
export function kafkaConsumer(options: KafkaConsumerOptions): Consumer {
  return new GroupConsumer(options)
}

class GroupConsumer implements Consumer {
  readonly broker = 'kafka'
  readonly #options: KafkaConsumerOptions
  readonly #inHand: InHand
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: KafkaConsumerOptions) {
    this.#options = options
    this.#inHand = new InHand(options.inFlight ?? 64)
  }

  start(ports: ConsumerPorts): void {
    this.#running = this.#run(ports)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  /** One membership after the other. */
  async #run(ports: ConsumerPorts): Promise<void> {
    const { signal } = this.#stop
    let pauseMs: number = retryMs.first
    while (!signal.aborted) {
      let member: KafkaMember | undefined
      try {
        member = await this.#options.member()
        await this.#consume(member, ports, () => {
          pauseMs = retryMs.first
        })
      } catch (error) {
        if (!signal.aborted) {
          ports.onFault(nameOf(error))
          await wait(pauseMs, undefined, { signal }).catch(() => {})
          pauseMs = Math.min(pauseMs * 2, retryMs.last)
        }
      }
      await this.#inHand.empty()
      await member?.leave().catch(() => {})
    }
  }

  async #consume(member: KafkaMember, ports: ConsumerPorts, onGood: () => void): Promise<void> {
    const partitions = new Map<string, Progress>()
    const lost = new AbortController()
    while (!this.#stop.signal.aborted) {
      await this.#inHand.room()
      lost.signal.throwIfAborted()
      const records = await member.poll(this.#inHand.free)
      onGood()
      for (const record of records) {
        const name = `${record.topic} ${record.partition}`
        const progress = partitions.get(name) ?? new Progress()
        partitions.set(name, progress)
        progress.begin(record.offset)
        this.#inHand.hold(this.#settle(member, progress, record, ports, lost))
      }
    }
  }

  async #settle(
    member: KafkaMember,
    progress: Progress,
    record: KafkaReceived,
    ports: ConsumerPorts,
    lost: AbortController,
  ): Promise<void> {
    const { topic, partition, offset } = record
    try {
      const isDone = await this.#untilTaken(record, ports, lost.signal)
      // Its offset stays: it comes again, to whoever has the partition then.
      if (!isDone) return
      const next = progress.end(offset)
      if (next !== null) await member.commit({ topic, partition, next })
    } catch (error) {
      ports.onFault(nameOf(error))
      lost.abort(error)
    }
  }

  /** @returns false when it was stopped before */
  async #untilTaken(record: KafkaReceived, { take }: ConsumerPorts, lost: AbortSignal): Promise<boolean> {
    const ended = AbortSignal.any([this.#stop.signal, lost])
    for (let deliveries = 1; ; deliveries++) {
      const verdict = await take(toBrokerMessage(record, deliveries))
      if (verdict.kind === 'acknowledge') return true
      if (verdict.kind === 'reject') {
        await this.#putAside(record, verdict)
        return true
      }
      await wait(verdict.afterMs, undefined, { signal: ended }).catch(() => {})
      if (ended.aborted) return false
    }
  }

  async #putAside(
    { topic: from, partition, offset, key, value, headers }: KafkaReceived,
    { code, why }: Extract<Verdict, { kind: 'reject' }>,
  ): Promise<void> {
    const { topic, producer } = this.#options.deadLetter
    const own = {
      'counterfoil-refused': Buffer.from(code),
      'counterfoil-why': Buffer.from(why.slice(0, 200)),
      'counterfoil-from': Buffer.from(`${from} ${partition} ${offset}`),
    }
    await producer.send({ topic, key, value, headers: { ...headers, ...own } })
  }
}

/** Attributes in headers are `ce_…` in Kafka (protocol binding 3.2) and `ce-…` in HTTP. */
function toBrokerMessage(
  { topic, partition, offset, value, headers }: KafkaReceived,
  deliveries: number,
): BrokerMessage {
  const all = Object.entries(headers).map(([name, bytes]) => [
    name.toLowerCase().replace(/^ce_/, 'ce-'),
    bytes.toString(),
  ])
  return {
    headers: Object.fromEntries(all),
    body: value,
    deliveries,
    position: `${topic} ${partition} ${offset}`,
  }
}
