import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { conformance, message, publishOne } from '../conformance.ts'
import type { BrokerMessage } from '../consumer.ts'
import { RedisBroker } from '../fixtures/redis-broker.ts'
import { withProgram } from '../fixtures/with-program.ts'

withProgram('redis-server', () => {
  conformance('Redis Streams', () => RedisBroker.start(null), { deduplicates: false })
  conformance('Redis Streams with a duplicate window', () => RedisBroker.start(60_000), {
    deduplicates: 'and says so',
    onlyOut: true,
  })

  describe('a group of a Redis stream', () => {
    let broker: RedisBroker
    before(async () => {
      broker = await RedisBroker.start(null)
    })
    after(async () => await broker.dispose())

    test('what a consumer had in hand when it died is claimed by another, and counted', async () => {
      const place = await broker.place()
      const sent = message(place)
      const publisher = broker.publisher()
      await publishOne(publisher, sent)
      await publisher.close()
      await broker.withClient(async (client) => {
        await client.xGroupCreate(place, 'tests', '0')
        await client.xReadGroup('tests', 'one that dies', { key: place, id: '>' })
      })
      const consumer = broker.consumer(place, { inFlight: 1 })
      const taken = await new Promise<BrokerMessage>((resolve) => {
        consumer.start({
          take: async (one) => {
            resolve(one)
            return { kind: 'acknowledge' }
          },
          onFault: () => {},
        })
      })
      await consumer.stop()
      assert.equal(taken.deliveries, 2)
      assert.equal(taken.headers.id, sent.id)
      await broker.withClient(async (client) => {
        assert.equal((await client.xPending(place, 'tests')).pending, 0)
        const names = (await client.xInfoConsumers(place, 'tests')).map(({ name }) => String(name))
        assert.deepEqual(names, ['one that dies'], 'who stops in good order leaves no name behind')
      })
    })

    test('an entry that ends its consumer each time is put aside, whole', async () => {
      const place = await broker.place()
      const sent = message(place)
      const publisher = broker.publisher()
      await publishOne(publisher, sent)
      await publisher.close()
      await broker.withClient(async (client) => {
        await client.xGroupCreate(place, 'tests', '0')
        await client.xReadGroup('tests', 'one that dies', { key: place, id: '>' })
        const [entry] = (await client.xRange(place, '-', '+')) ?? []
        for (let n = 0; n < 3; n++) await client.xClaim(place, 'tests', 'one that dies', 0, entry!.id)
      })
      const consumer = broker.consumer(place, { inFlight: 1 }, 3)
      consumer.start({ take: async () => assert.fail('it is not tried again'), onFault: () => {} })
      while ((await broker.putAside(place)).length === 0)
        await new Promise((resolve) => setTimeout(resolve, 20))
      await consumer.stop()
      assert.deepEqual(await broker.putAside(place), [{ id: sent.id, body: sent.event.data }])
      await broker.withClient(async (client) => {
        assert.equal((await client.xPending(place, 'tests')).pending, 0)
      })
    })

    test('bytes that are no text come as they were', async () => {
      const place = await broker.place()
      const bytes = Buffer.from([0, 255, 254, 10])
      await broker.withClient(async (client) => {
        await client.xAdd(place, '*', { body: bytes, 'content-type': 'application/octet-stream' })
      })
      const consumer = broker.consumer(place, { inFlight: 1 })
      const taken = await new Promise<BrokerMessage>((resolve) => {
        consumer.start({
          take: async (one) => {
            resolve(one)
            return { kind: 'acknowledge' }
          },
          onFault: () => {},
        })
      })
      await consumer.stop()
      assert.deepEqual([...taken.body], [...bytes])
    })
  })
})
