import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { conformance, message, publishOne, untilConfirmed } from '../conformance.ts'
import type { BrokerMessage } from '../consumer.ts'
import { RabbitBroker } from '../fixtures/rabbit-broker.ts'
import { withProgram } from '../fixtures/with-program.ts'
import { rabbitConsumer } from './index.ts'

withProgram('rabbitmq-server', () => {
  // A start takes seconds: one server for all of them.
  const server = RabbitBroker.start()
  after(async () => await (await server).dispose())

  conformance(
    'RabbitMQ',
    async () => {
      const broker = await server
      return new Proxy(broker, {
        get: (target, name) => {
          const member = Reflect.get(target, name)
          if (name === 'dispose') return async () => {}
          return typeof member === 'function' ? member.bind(target) : member
        },
      })
    },
    { deduplicates: false },
  )

  describe('RabbitMQ', () => {
    it('a message that no queue takes comes back, and proves that nothing lies there', async () => {
      const broker = await server
      const publisher = broker.publisher()
      const nowhere = await publishOne(publisher, message('no-such-queue'))
      assert.equal(nowhere.kind, 'notActed')
      assert.match(nowhere.kind === 'notActed' ? nowhere.why : '', /no queue is bound/)
      const place = await broker.place()
      assert.equal((await publishOne(publisher, message(place))).kind, 'confirmed')
      await publisher.close()
    })

    it('a confirm that does not come leaves it unknown, and the next attempt has a channel of its own', async () => {
      const broker = await server
      const place = await broker.place()
      const publisher = broker.publisher()
      const one = message(place)
      assert.equal((await publishOne(publisher, message(place))).kind, 'confirmed')
      await broker.pause()
      const stalled = await publishOne(publisher, one, 500)
      broker.goOn()
      assert.equal(stalled.kind, 'unknown')
      await untilConfirmed(publisher, one)
      await publisher.close()
      const copies = (await broker.stored(place)).filter(({ id }) => id === one.id)
      assert.ok(copies.length >= 1, 'perhaps twice, and always under one id')
      for (const copy of copies) assert.deepEqual(copy.body, one.event.data)
    })

    it('a message that ends its process each time is put aside after so many times', async () => {
      const broker = await server
      const place = await broker.place()
      const publisher = broker.publisher()
      const bad = message(place)
      await untilConfirmed(publisher, bad)
      await publisher.close()
      for (let life = 1; life <= 2; life++) {
        await broker.withChannel(async (channel) => {
          assert.notEqual(await channel.get(place), false)
        })
      }
      const taken: BrokerMessage[] = []
      const consumer = rabbitConsumer({
        server: { url: broker.url },
        queue: place,
        deadLetter: `${place}-aside`,
        maxDeliveries: 2,
      })
      consumer.start({
        take: async (one) => {
          taken.push(one)
          return { kind: 'acknowledge' }
        },
        onFault: () => {},
      })
      while ((await broker.putAside(place)).length === 0)
        await new Promise((resolve) => setTimeout(resolve, 50))
      await consumer.stop()
      assert.deepEqual(taken, [])
      assert.deepEqual(await broker.putAside(place), [{ id: bad.id, body: bad.event.data }])
    })
  })
})
