import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { AckPolicy } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import { conformance, message, publishOne } from '../conformance.ts'
import { NatsBroker } from '../fixtures/nats-broker.ts'
import { withProgram } from '../fixtures/with-program.ts'
import { readPubAck } from './outcomes.ts'
import { NatsPublisher } from './publisher.ts'

withProgram('nats-server', () => {
  conformance('NATS JetStream', NatsBroker.start, { deduplicates: 'and says so' })

  describe('a JetStream subject for each ordering domain', () => {
    let broker: NatsBroker
    before(async () => {
      broker = await NatsBroker.start()
    })
    after(async () => await broker.dispose())

    const at = (to: string, version: number) =>
      message(to, { id: `${to}-${version}`, order: { domain: 'ann', version } })

    test('a publish that was stalled for longer than the duplicate window lands neither twice nor out of its turn', async () => {
      const to = await broker.place()
      const publisher = broker.publisher(true)
      // What the first attempt of version 1 would have sent, had the network not held it back.
      const stalled = headers()
      stalled.set('Nats-Msg-Id', 'forgotten by the window')
      stalled.set('Nats-Expected-Last-Subject-Sequence', '0')
      assert.equal((await publishOne(publisher, at(to, 1))).kind, 'confirmed')
      assert.equal((await publishOne(publisher, at(to, 2))).kind, 'confirmed')
      await broker.withManager(async (_, connection) => {
        const answer = await connection.request(to, 'late', { timeout: 2_000, headers: stalled })
        assert.equal(readPubAck(answer.json()).kind, 'notActed')
      })
      assert.deepEqual(
        (await broker.stored(to)).map(({ id }) => id),
        [at(to, 1).id, at(to, 2).id],
      )
      await publisher.close()
    })

    test('what an earlier attempt has put there is found, also where the window has forgotten it', async () => {
      const to = await broker.place()
      const publisher = broker.publisher(true)
      await publishOne(publisher, at(to, 1))
      await broker.withManager(async (manager) => {
        await manager.streams.update(broker.stream, { duplicate_window: 100 * 1_000_000 })
        await new Promise((resolve) => setTimeout(resolve, 400))
      })
      const again = await publishOne(publisher, at(to, 1))
      assert.ok(again.kind === 'confirmed' && again.duplicate)
      assert.equal((await broker.stored(to)).length, 1)
      // Without the chain the same message is there twice by now: that is what the window is.
      const unchained = broker.publisher()
      await publishOne(unchained, at(to, 1))
      assert.equal((await broker.stored(to)).length, 2)
      await publisher.close()
      await unchained.close()
    })

    test('two at once on one subject: one of them is there, the other provably not', async () => {
      const to = await broker.place()
      const [one, other] = [broker.publisher(true), broker.publisher(true)]
      for (let round = 0; round < 10; round++) {
        const published = await Promise.all([
          publishOne(one, at(to, round * 2 + 1)),
          publishOne(other, at(to, round * 2 + 2)),
        ])
        const confirmed = published.filter(({ kind }) => kind === 'confirmed').length
        assert.ok(published.every(({ kind }) => kind === 'confirmed' || kind === 'notActed'))
        assert.ok(confirmed >= 1)
      }
      await Promise.all([one.close(), other.close()])
    })

    test('no stream on the subject, or another one than was named, is proof that nothing was stored', async () => {
      const publisher = new NatsPublisher({
        servers: broker.servers,
        stream: 'TESTS',
        subjectPerDomain: false,
      })
      assert.deepEqual(await publishOne(publisher, message('nobody.listens')), {
        kind: 'notActed',
        why: 'no stream listens on the subject',
      })
      const other = await publishOne(publisher, message('aside.other'))
      assert.equal(other.kind, 'notActed')
      await publisher.close()
    })
  })

  test('a consumer that gives messages up by itself is not used', async () => {
    const broker = await NatsBroker.start()
    const place = await broker.place()
    await broker.withManager(async (manager) => {
      await manager.consumers.add(broker.stream, {
        durable_name: place.replaceAll('.', '-'),
        ack_policy: AckPolicy.Explicit,
        max_deliver: 5,
      })
    })
    const consumer = broker.consumer(place, { inFlight: 1 })
    const fault = await new Promise<string>((resolve) => {
      consumer.start({ take: async () => assert.fail('nothing is taken'), onFault: resolve })
    })
    assert.match(fault, /gives up messages by itself/)
    await consumer.stop()
    await broker.dispose()
  })
})
