import { setTimeout as wait } from 'node:timers/promises'
import type { BrokerMessage, Consumer, Verdict } from '../consumer.ts'
import { type BrokerSide, Consuming, type Session } from '../consuming.ts'
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

/**
 * Records of a consumer group. Their offsets are committed after their receipts, and are no identity: a topic that is made
 * anew begins at 0 again. Kafka hands single records back to nobody, so one that has to wait is tried again here, and
 * holds back the offset of its partition meanwhile, not the records after it.
 */
export function kafkaConsumer(options: KafkaConsumerOptions): Consumer {
  return new Consuming(new KafkaSide(options), options)
}

class KafkaSide implements BrokerSide {
  readonly faultOf = nameOf
  readonly broker = 'kafka'
  readonly #options: KafkaConsumerOptions

  constructor(options: KafkaConsumerOptions) {
    this.#options = options
  }

  /** One membership. */
  async session(session: Session): Promise<void> {
    const member = await this.#options.member()
    try {
      await this.#consume(member, session)
    } finally {
      await session.inHand.empty()
      await member.leave().catch(() => {})
    }
  }

  /** Each session has left already. */
  async close(): Promise<void> {}

  async #consume(member: KafkaMember, session: Session): Promise<void> {
    const { inHand, stop, onGood } = session
    const partitions = new Map<string, Progress>()
    const lost = new AbortController()
    while (!stop.aborted) {
      await inHand.room()
      lost.signal.throwIfAborted()
      const records = await member.poll(inHand.free)
      onGood()
      for (const record of records) {
        const name = `${record.topic} ${record.partition}`
        const progress = partitions.get(name) ?? new Progress()
        partitions.set(name, progress)
        progress.begin(record.offset)
        inHand.hold(this.#settle(member, progress, record, session, lost))
      }
    }
  }

  async #settle(
    member: KafkaMember,
    progress: Progress,
    record: KafkaReceived,
    session: Session,
    lost: AbortController,
  ): Promise<void> {
    const { topic, partition, offset } = record
    try {
      const isDone = await this.#untilTaken(record, session, lost.signal)
      // Its offset stays: it comes again, to whoever has the partition then.
      if (!isDone) return
      const next = progress.end(offset)
      if (next !== null) await member.commit({ topic, partition, next })
    } catch (error) {
      session.onFault(nameOf(error))
      lost.abort(error)
    }
  }

  /** @returns false when it was stopped before */
  async #untilTaken(record: KafkaReceived, { take, stop }: Session, lost: AbortSignal): Promise<boolean> {
    const ended = AbortSignal.any([stop, lost])
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
