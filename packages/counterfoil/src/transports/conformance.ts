import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { IdempotencyKey, JsonValue } from '../domain/index.ts'
import type { BrokerMessage, Consumer, Verdict } from './consumer.ts'
import { type Message, toMessage, toStored } from './message.ts'
import type { Published, Publisher } from './publisher.ts'

/** One broker under test: a real server, a mock of its protocol, or one in memory. */
export interface BrokerUnderTest {
  /** A new one, with connections of its own. */
  publisher(): Publisher
  /** A new one of the same group as all others that read `from`. */
  consumer(from: string, options: { readonly inFlight: number }): Consumer
  /** A place that nothing was sent to yet, made where the broker wants that. */
  place(): Promise<string>
  /** Everything that lies at a place, in the order that readers see it. */
  stored(place: string): Promise<readonly StoredThere[]>
  /** What was put aside of a place. */
  putAside(place: string): Promise<readonly StoredThere[]>
  /** Ends the server as a power cut of its process would (kill -9); what it acknowledged stays. */
  kill(): Promise<void>
  /** Starts it again on the same data. */
  restart(): Promise<void>
  dispose(): Promise<void>
}

export interface StoredThere {
  /** The CloudEvents `id`. */
  readonly id: string
  readonly body: JsonValue
}

export interface BrokerTraits {
  /** Whether the broker drops a second message of the same id that comes soon after, and says so. */
  readonly deduplicates: false | 'silently' | 'and says so'
  /** It keeps those ids in memory, so that a kill ends that. */
  readonly forgetsIds?: true
  /** Its client does not tell a connection that was never made from one that was lost. */
  readonly cannotProveAway?: true
  /** Another run of the suite has held the same consumer to it. */
  readonly onlyOut?: true
}

let made = 0

export function message(
  to: string,
  about: { id?: string; data?: JsonValue; order?: Message['order'] } = {},
): Message {
  const { id = `cf_${++made}`, data = { n: made }, order = null } = about
  return toMessage(toStored({ to, type: 'test.made', data }, '/tests'), id as IdempotencyKey, order)
}

/** One attempt with a deadline of its own. */
export async function publishOne(publisher: Publisher, one: Message, timeoutMs = 5_000): Promise<Published> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), timeoutMs)
  try {
    return await publisher.publish(one, { signal: stop.signal, deadline: Date.now() + timeoutMs })
  } finally {
    clearTimeout(timer)
  }
}

/** The meaning of `Publisher` and `Consumer`, for every broker; with three lines a broker is held to it. */
export function conformance(name: string, make: () => Promise<BrokerUnderTest>, traits: BrokerTraits): void {
  describe(`transport to ${name}`, () => {
    let broker: BrokerUnderTest
    before(async () => {
      broker = await make()
    })
    after(async () => await broker.dispose())

    describe('out', () => publishing(() => broker, traits))
    if (traits.onlyOut !== true) describe('in', () => consuming(() => broker))
  })
}

function publishing(broker: () => BrokerUnderTest, traits: BrokerTraits): void {
  const { deduplicates, forgetsIds = false, cannotProveAway = false } = traits

  it('a confirmed message lies there with its id and its data', async () => {
    const place = await broker().place()
    await withPublisher(broker(), async (publisher) => {
      const one = message(place, { data: { text: 'Grüße', n: [1, 2.5, null] } })
      const published = await publishOne(publisher, one)
      assert.equal(published.kind, 'confirmed')
      assert.deepEqual(await broker().stored(place), [{ id: one.id, body: one.event.data }])
    })
  })

  it('a message that is sent again has the same id and the same bytes, and is told where the broker knows it', async () => {
    const place = await broker().place()
    await withPublisher(broker(), async (publisher) => {
      const one = message(place)
      assert.equal((await publishOne(publisher, one)).kind, 'confirmed')
      const again = await publishOne(publisher, one)
      assert.ok(again.kind === 'confirmed')
      assert.equal(again.duplicate === true, deduplicates === 'and says so')
      const there = await broker().stored(place)
      assert.equal(there.length, deduplicates === false ? 2 : 1)
      for (const copy of there) assert.deepEqual(copy, { id: one.id, body: one.event.data })
    })
  })

  it('what is sent at once from one place is all confirmed', async () => {
    const place = await broker().place()
    await withPublisher(broker(), async (publisher) => {
      const many = Array.from({ length: 50 }, () => message(place))
      const published = await Promise.all(many.map((one) => publishOne(publisher, one)))
      assert.ok(published.every(({ kind }) => kind === 'confirmed'))
      assert.deepEqual(idsOf(await broker().stored(place)).sort(), idsOf(many).sort())
    })
  })

  it('an attempt that was aborted before it began has sent nothing', async () => {
    const place = await broker().place()
    await withPublisher(broker(), async (publisher) => {
      const published = await publisher.publish(message(place), {
        signal: AbortSignal.abort(),
        deadline: Date.now() + 5_000,
      })
      assert.equal(published.kind, 'notActed')
      assert.deepEqual(await broker().stored(place), [])
    })
  })

  it('while the server is away it is proved that nothing was sent, and it is found again by itself', async () => {
    const place = await broker().place()
    await withPublisher(broker(), async (publisher) => {
      const before = message(place)
      assert.equal((await publishOne(publisher, before)).kind, 'confirmed')
      await broker().kill()
      // The first one may still have found the old connection; the later ones find none.
      await publishOne(publisher, message(place), 1_000)
      const away = message(place)
      assert.equal((await publishOne(publisher, away, 1_000)).kind, cannotProveAway ? 'unknown' : 'notActed')
      await broker().restart()
      assert.equal((await untilConfirmed(publisher, away)).kind, 'confirmed')
      const there = idsOf(await broker().stored(place))
      assert.equal(there[0], before.id)
      assert.equal(there.filter((id) => id === away.id).length, 1)
    })
  })

  it('a server that is killed in the middle loses nothing that it confirmed, and what is sent again keeps its id and its turn', async () => {
    const place = await broker().place()
    await withPublisher(broker(), async (publisher) => {
      const domains = ['a', 'b', 'c', 'd']
      const each = 60
      let confirmed = 0
      let failed = 0
      let killed: Promise<void> | undefined
      // As the engine does for effects in turn: one after the other in each domain, the same one until it is confirmed.
      const inTurn = async (domain: string) => {
        for (let version = 1; version <= each; version++) {
          await untilConfirmed(
            publisher,
            message(place, { id: `cf_${place}_${domain}_${version}`, order: { domain, version } }),
            () => failed++,
          )
          if (++confirmed === (domains.length * each) / 3) {
            killed = broker()
              .kill()
              .then(() => broker().restart())
          }
        }
      }
      await Promise.all(domains.map(inTurn))
      await killed
      assert.ok(failed > 0, 'the server was away while there was something to send')
      const there = idsOf(await broker().stored(place))
      for (const domain of domains) {
        const own = there.filter((id) => id.startsWith(`cf_${place}_${domain}_`))
        const first = own.filter((id, index) => own.indexOf(id) === index)
        const wanted = Array.from({ length: each }, (_, n) => `cf_${place}_${domain}_${n + 1}`)
        assert.deepEqual(first, wanted, 'each is there, and first seen in its turn')
        if (deduplicates !== false && !forgetsIds) assert.deepEqual(own, wanted)
      }
    })
  })

  it('after its end it connects again when it is asked to', async () => {
    const place = await broker().place()
    const publisher = broker().publisher()
    assert.equal((await publishOne(publisher, message(place))).kind, 'confirmed')
    await publisher.close()
    await publisher.close()
    assert.equal((await publishOne(publisher, message(place))).kind, 'confirmed')
    await publisher.close()
  })
}

function consuming(broker: () => BrokerUnderTest): void {
  it('hands a message over with its headers and bytes, and never again once it is acknowledged', async () => {
    const place = await broker().place()
    const sent = await sendAll(broker(), place, 3)
    const seen = await consumeUntil(broker(), place, 3, () => ({ kind: 'acknowledge' }))
    assert.deepEqual(seen.map(eventId).sort(), idsOf(sent).sort())
    for (const one of seen) {
      assert.equal(one.deliveries, 1)
      assert.notEqual(one.position, '')
      assert.ok(Object.keys(one.headers).every((name) => name === name.toLowerCase()))
    }
    const [later] = await sendAll(broker(), place, 1)
    const next = await consumeUntil(broker(), place, 1, () => ({ kind: 'acknowledge' }))
    assert.deepEqual(next.map(eventId), [later!.id])
  })

  it('hands over again what was not committed, and counts', async () => {
    const place = await broker().place()
    await sendAll(broker(), place, 1)
    const seen = await consumeUntil(broker(), place, 3, ({ deliveries }) =>
      deliveries < 3 ? { kind: 'again', afterMs: 20 } : { kind: 'acknowledge' },
    )
    assert.deepEqual(
      seen.map(({ deliveries }) => deliveries),
      [1, 2, 3],
    )
    assert.equal(new Set(seen.map(eventId)).size, 1)
  })

  it('puts aside what is refused for good, where a person finds it whole, and goes on with the others', async () => {
    const place = await broker().place()
    const sent = await sendAll(broker(), place, 3)
    const bad = sent[1]!.id
    const seen = await consumeUntil(broker(), place, 3, (one) =>
      eventId(one) === bad
        ? { kind: 'reject', code: 'syntax_invalid', why: 'it is bad' }
        : { kind: 'acknowledge' },
    )
    assert.deepEqual(seen.map(eventId).sort(), idsOf(sent).sort())
    assert.deepEqual(await broker().putAside(place), [{ id: bad, body: sent[1]!.event.data }])
    const [later] = await sendAll(broker(), place, 1)
    const next = await consumeUntil(broker(), place, 1, () => ({ kind: 'acknowledge' }))
    assert.deepEqual(next.map(eventId), [later!.id])
  })

  it('has no more in hand than it may', async () => {
    const place = await broker().place()
    await sendAll(broker(), place, 12)
    let inHand = 0
    let most = 0
    await consumeUntil(
      broker(),
      place,
      12,
      async () => {
        most = Math.max(most, ++inHand)
        await new Promise((resolve) => setTimeout(resolve, 5))
        inHand--
        return { kind: 'acknowledge' }
      },
      3,
    )
    assert.ok(most <= 3, `${most} at once`)
    assert.ok(most > 1, 'and more than one')
  })

  it('settles what it has in hand before it stops', async () => {
    const place = await broker().place()
    await sendAll(broker(), place, 1)
    const consumer = broker().consumer(place, { inFlight: 4 })
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const taken = new Promise<void>((resolve) => {
      consumer.start({
        take: async () => {
          resolve()
          await held
          return { kind: 'acknowledge' }
        },
        onFault: () => {},
      })
    })
    await taken
    const stopped = consumer.stop()
    release()
    await stopped
    const [later] = await sendAll(broker(), place, 1)
    const next = await consumeUntil(broker(), place, 1, () => ({ kind: 'acknowledge' }))
    assert.deepEqual(next.map(eventId), [later!.id])
  })

  it('goes on by itself after the server was killed, and loses nothing', async () => {
    const place = await broker().place()
    const sent = await sendAll(broker(), place, 20)
    const consumer = broker().consumer(place, { inFlight: 4 })
    const seen = new Set<string>()
    let struck: Promise<void> | undefined
    await new Promise<void>((resolve) => {
      consumer.start({
        take: async (one) => {
          seen.add(eventId(one))
          if (seen.size === 5)
            struck ??= broker()
              .kill()
              .then(() => broker().restart())
          if (seen.size === sent.length) resolve()
          return { kind: 'acknowledge' }
        },
        onFault: () => {},
      })
    })
    await struck
    await consumer.stop()
    assert.deepEqual([...seen].sort(), idsOf(sent).sort())
  })
}

async function withPublisher(
  broker: BrokerUnderTest,
  work: (publisher: Publisher) => Promise<void>,
): Promise<void> {
  const publisher = broker.publisher()
  try {
    await work(publisher)
  } finally {
    await publisher.close()
  }
}

/** The same message again until the broker has it, as the engine does with an effect that may be repeated. */
export async function untilConfirmed(
  publisher: Publisher,
  one: Message,
  onFailed: () => void = () => {},
): Promise<Published> {
  for (;;) {
    const published = await publishOne(publisher, one, 2_000)
    if (published.kind === 'confirmed') return published
    assert.notEqual(published.kind, 'refused', JSON.stringify(published))
    onFailed()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function sendAll(broker: BrokerUnderTest, place: string, count: number): Promise<Message[]> {
  const sent: Message[] = []
  await withPublisher(broker, async (publisher) => {
    for (let n = 0; n < count; n++) {
      const one = message(place)
      await untilConfirmed(publisher, one)
      sent.push(one)
    }
  })
  return sent
}

/** Consumes until so many messages were handed over, and stops. */
async function consumeUntil(
  broker: BrokerUnderTest,
  place: string,
  count: number,
  verdict: (message: BrokerMessage) => Verdict | Promise<Verdict>,
  inFlight = 8,
): Promise<BrokerMessage[]> {
  const consumer = broker.consumer(place, { inFlight })
  const seen: BrokerMessage[] = []
  await new Promise<void>((resolve) => {
    consumer.start({
      take: async (one) => {
        seen.push(one)
        const given = await verdict(one)
        if (seen.length >= count) resolve()
        return given
      },
      onFault: () => {},
    })
  })
  await consumer.stop()
  return seen
}

/** In binary mode as headers, in structured mode as the body. */
function eventId({ headers, body }: BrokerMessage): string {
  return headers['ce-id'] ?? JSON.parse(Buffer.from(body).toString()).id
}

function idsOf(all: readonly { readonly id: string }[]): string[] {
  return all.map(({ id }) => id)
}
