import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, describe, it, test } from 'node:test'
import type { KafkaClientConfig } from 'kafka-crab-js'
import { skipLoudly } from '../../testing/skip.ts'
import { message, publishOne, untilConfirmed } from '../conformance.ts'
import type { BrokerMessage, Verdict } from '../consumer.ts'
import { standStill } from '../fixtures/stand-still.ts'
import { librdkafka } from './fixtures/librdkafka-package.ts'
import { isThere, mockCluster } from './fixtures/mock-cluster.ts'
import { kafkaConsumer, librdkafkaMember, librdkafkaProducer } from './index.ts'
import { KafkaPublisher } from './publisher.ts'

// No broker of Kafka runs here: this is the mock cluster of librdkafka, a listener of three brokers that keeps all in
// memory. It shows that the protocol is spoken, and nothing of what a real cluster survives.

const library = await librdkafka()

let brokers = ''
let places = 0

const idempotent = {
  'enable.idempotence': 'true',
  acks: 'all',
  'message.timeout.ms': '4000',
  'linger.ms': '0',
}

function client(configuration: Record<string, string> = {}, at = brokers): KafkaClientConfig {
  return new library!.KafkaClientConfig({ brokers: at, clientId: 'tests', configuration })
}

async function producer(at = brokers) {
  return librdkafkaProducer(client(idempotent, at).createProducer({}))
}

async function member(topic: string, at: string) {
  const consumer = client(
    {
      'auto.offset.reset': 'earliest',
      'session.timeout.ms': '6000',
    },
    at,
  ).createConsumer({
    groupId: `of-${topic}`,
    enableAutoCommit: false,
    configuration: { 'auto.offset.reset': 'earliest' },
  })
  await consumer.subscribe(topic)
  return librdkafkaMember(consumer)
}

/** Consumes until so many were handed over, or until that is enough. */
async function consume(
  topic: string,
  enough: number | ((seen: readonly BrokerMessage[]) => boolean),
  verdict: (one: BrokerMessage) => Verdict | Promise<Verdict>,
  inFlight = 8,
  at = brokers,
): Promise<BrokerMessage[]> {
  const seen: BrokerMessage[] = []
  const consumer = kafkaConsumer({
    member: () => member(topic, at),
    deadLetter: { topic: `${topic}-aside`, producer: await producer(at) },
    inFlight,
  })
  await new Promise<void>((resolve) => {
    consumer.start({
      take: async (one) => {
        seen.push(one)
        const given = await verdict(one)
        if (typeof enough === 'number' ? seen.length >= enough : enough(seen)) resolve()
        return given
      },
      onFault: () => {},
    })
  })
  await consumer.stop()
  return seen
}

const idOf = ({ body }: BrokerMessage): string => JSON.parse(Buffer.from(body).toString()).id
const acknowledge = (): Verdict => ({ kind: 'acknowledge' })

if (library === undefined || process.platform !== 'linux')
  test('transport to Kafka', (t) => skipLoudly(t, 'librdkafka is not there for this machine'))
// To join a group of the mock takes seconds: they join side by side.
else
  describe('transport to Kafka (a mock of its protocol)', { concurrency: true }, () => {
    before(async () => {
      brokers = await mockCluster()
    })
    // Last of all: clients that lose their brokers say so at length.
    const clusters: ChildProcess[] = []
    after(() => {
      assert.ok(isThere())
      for (const cluster of clusters) cluster.kill('SIGKILL')
    })

    const place = () => `place-${++places}`

    it('a confirmed message lies there with its id and its data, and one that is sent again has the same id', async () => {
      const topic = place()
      const publisher = new KafkaPublisher(() => producer())
      const one = message(topic, { data: { text: 'Grüße' } })
      const first = await publishOne(publisher, one, 10_000)
      assert.equal(first.kind, 'confirmed', JSON.stringify(first))
      assert.equal((await publishOne(publisher, one)).kind, 'confirmed')
      await publisher.close()
      const seen = await consume(topic, 2, acknowledge)
      assert.deepEqual(seen.map(idOf), [one.id, one.id])
      assert.deepEqual(seen[0]?.body, seen[1]?.body)
      assert.equal(seen[0]?.headers['content-type'], 'application/cloudevents+json; charset=utf-8')
    })

    it('messages of one ordering domain lie in one partition, in their order', async () => {
      const topic = place()
      const publisher = new KafkaPublisher(() => producer())
      for (let version = 1; version <= 6; version++)
        for (const domain of ['a', 'b', 'c'])
          await publishOne(
            publisher,
            message(topic, { id: `cf_${domain}_${version}`, order: { domain, version } }),
          )
      await publisher.close()
      const seen = await consume(topic, 18, acknowledge, 1)
      for (const domain of ['a', 'b', 'c']) {
        const own = seen.filter((one) => idOf(one).startsWith(`cf_${domain}_`))
        assert.deepEqual(
          own.map(idOf),
          [1, 2, 3, 4, 5, 6].map((version) => `cf_${domain}_${version}`),
        )
        assert.equal(new Set(own.map(({ position }) => position.split(' ')[1])).size, 1)
      }
    })

    it('brokers that stand still in the middle lose nothing that they confirmed, and what is sent again keeps its id and its turn', async () => {
      const program = join(import.meta.dirname, 'fixtures/mock-cluster-main.ts')
      const words = ['--conditions=counterfoil:source', program]
      const cluster = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
      clusters.push(cluster)
      const [line] = (await once(cluster.stdout, 'data')) as [Buffer]
      const own = line.toString().trim()
      const short = { ...idempotent, 'message.timeout.ms': '1000' }
      const publisher = new KafkaPublisher(async () =>
        librdkafkaProducer(client(short, own).createProducer({})),
      )
      const topic = place()
      const domains = ['a', 'b', 'c']
      const each = 20
      let confirmed = 0
      let unknown = 0
      try {
        await publishOne(publisher, message(topic), 20_000)
        await Promise.all(
          domains.map(async (domain) => {
            for (let version = 1; version <= each; version++) {
              const one = message(topic, { id: `cf_${domain}_${version}`, order: { domain, version } })
              await untilConfirmed(publisher, one, () => {
                unknown++
                cluster.kill('SIGCONT')
              })
              // Until what is under way is unknown.
              if (++confirmed === each) await standStill(cluster.pid!)
            }
          }),
        )
        assert.ok(unknown > 0, 'something was under way')
        const all = (seen: readonly BrokerMessage[]) => new Set(seen.map(idOf)).size === 1 + confirmed
        const ids = (await consume(topic, all, acknowledge, 1, own)).map(idOf)
        for (const domain of domains) {
          const there = ids.filter((id) => id.startsWith(`cf_${domain}_`))
          const wanted = Array.from({ length: each }, (_, n) => `cf_${domain}_${n + 1}`)
          assert.deepEqual([...new Set(there)], wanted, 'each is there, and first seen in its turn')
        }
      } finally {
        await publisher.close()
      }
    })

    it('what was committed is not handed over again, and what was not is; what is refused lies aside whole', async () => {
      const topic = place()
      const publisher = new KafkaPublisher(() => producer())
      const sent = [message(topic), message(topic), message(topic)]
      for (const one of sent) {
        // One partition, so that the order is known.
        await publishOne(publisher, { ...one, order: { domain: 'same', version: 1 } })
      }
      let tries = 0
      const seen = await consume(topic, 4, (one) => {
        if (idOf(one) === sent[1]!.id) return { kind: 'reject', code: 'syntax_invalid', why: 'it is bad' }
        if (idOf(one) === sent[0]!.id && ++tries < 2) return { kind: 'again', afterMs: 20 }
        return { kind: 'acknowledge' }
      })
      assert.deepEqual(seen.map(idOf).sort(), [sent[0]!.id, ...sent.map(({ id }) => id)].sort())
      const later = message(topic)
      await publishOne(publisher, later)
      await publisher.close()
      const [[aside], next] = await Promise.all([
        consume(`${topic}-aside`, 1, acknowledge),
        consume(topic, 1, acknowledge),
      ])
      assert.equal(idOf(aside!), sent[1]!.id)
      assert.equal(aside?.headers['counterfoil-refused'], 'syntax_invalid')
      assert.deepEqual(next.map(idOf), [later.id])
    })

    it('a producer that cannot be made proves that nothing was sent; one that fails leaves it unknown', async () => {
      const none = new KafkaPublisher(async () => {
        throw new Error('down')
      })
      assert.equal((await publishOne(none, message('any'))).kind, 'notActed')
      const failing = new KafkaPublisher(async () => ({
        send: async () => {
          throw Object.assign(new Error('secret'), { code: -192 })
        },
        close: async () => {},
      }))
      assert.deepEqual(await publishOne(failing, message('any')), {
        kind: 'unknown',
        why: 'the producer failed with Error -192',
      })
      const silent = new KafkaPublisher(async () => ({
        send: () => new Promise(() => {}),
        close: async () => {},
      }))
      assert.equal((await publishOne(silent, message('any'), 50)).kind, 'unknown')
    })
  })
