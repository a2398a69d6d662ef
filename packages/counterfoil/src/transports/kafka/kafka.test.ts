import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { KafkaClientConfig } from 'kafka-crab-js'
import { skipLoudly } from '../../testing/skip.ts'
import { message, publishOne } from '../conformance.ts'
import type { BrokerMessage, Verdict } from '../consumer.ts'
import { librdkafka } from './fixtures/librdkafka-package.ts'
import { kafkaConsumer, librdkafkaMember, librdkafkaProducer } from './index.ts'
import { KafkaPublisher } from './publisher.ts'

// No broker of Kafka runs here: this is the mock cluster of librdkafka, a listener of three brokers that keeps all in
// memory. It shows that the protocol is spoken, and nothing of what a real cluster survives.

const library = await librdkafka()

let brokers = ''
let mock: unknown
let places = 0

function listening(): Set<string> {
  return new Set(
    readFileSync('/proc/self/net/tcp', 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, local = '', , state] = line.trim().split(/\s+/)
        return state === '0A' && local.startsWith('0100007F:')
          ? [String(Number.parseInt(local.slice(9), 16))]
          : []
      }),
  )
}

const idempotent = {
  'enable.idempotence': 'true',
  acks: 'all',
  'message.timeout.ms': '4000',
  'linger.ms': '0',
}

function client(configuration: Record<string, string> = {}): KafkaClientConfig {
  return new library!.KafkaClientConfig({ brokers, clientId: 'tests', configuration })
}

async function producer() {
  return librdkafkaProducer(client(idempotent).createProducer({}))
}

async function member(topic: string) {
  const consumer = client({
    'auto.offset.reset': 'earliest',
    'session.timeout.ms': '6000',
  }).createConsumer({
    groupId: `of-${topic}`,
    enableAutoCommit: false,
    configuration: { 'auto.offset.reset': 'earliest' },
  })
  await consumer.subscribe(topic)
  return librdkafkaMember(consumer)
}

/** Consumes until so many were handed over. */
async function consume(
  topic: string,
  count: number,
  verdict: (one: BrokerMessage) => Verdict | Promise<Verdict>,
  inFlight = 8,
): Promise<BrokerMessage[]> {
  const seen: BrokerMessage[] = []
  const consumer = kafkaConsumer({
    member: () => member(topic),
    deadLetter: { topic: `${topic}-aside`, producer: await producer() },
    inFlight,
  })
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

const idOf = ({ body }: BrokerMessage): string => JSON.parse(Buffer.from(body).toString()).id
const acknowledge = (): Verdict => ({ kind: 'acknowledge' })

if (library === undefined || process.platform !== 'linux')
  test('transport to Kafka', (t) => skipLoudly(t, 'librdkafka is not there for this machine'))
// To join a group of the mock takes seconds: they join side by side.
else
  describe('transport to Kafka (a mock of its protocol)', { concurrency: true }, () => {
    before(async () => {
      const known = listening()
      mock = new library!.KafkaClientConfig({
        brokers: 'mock',
        clientId: 'mock',
        configuration: { 'test.mock.num.brokers': '3' },
      }).createProducer({})
      let ports: string[] = []
      for (let tries = 0; ports.length < 3 && tries < 200; tries++) {
        ports = [...listening()].filter((port) => !known.has(port))
        await wait(20)
      }
      assert.equal(ports.length, 3)
      brokers = ports.map((port) => `127.0.0.1:${port}`).join(',')
    })
    after(() => assert.ok(mock))

    const place = () => `place-${++places}`

    it('a confirmed message lies there with its id and its data, and one that is sent again has the same id', async () => {
      const topic = place()
      const publisher = new KafkaPublisher(producer)
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
      const publisher = new KafkaPublisher(producer)
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

    it('what was committed is not handed over again, and what was not is; what is refused lies aside whole', async () => {
      const topic = place()
      const publisher = new KafkaPublisher(producer)
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
