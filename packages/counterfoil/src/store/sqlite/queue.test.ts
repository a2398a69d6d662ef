import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CounterfoilError } from '../../domain/index.ts'
import { delivery, rejects, sealed } from '../conformance/given.ts'
import { CallQueue, maxBatch, maxBatchBytes, maxQueued, maxQueuedBytes } from './call-queue.ts'
import { bytesOf, type PackedAcceptance } from './packing.ts'
import type { Batch, BatchReply, Result } from './protocol.ts'
import type { Thread } from './thread.ts'

/** A thread that keeps what it is sent until it is told to answer. */
class HeldThread {
  readonly sent: {
    readonly batch: Batch
    readonly answer: (results?: Result[]) => void
    readonly fail: (error: unknown) => void
  }[] = []

  batch(batch: Batch): Promise<Pick<BatchReply, 'results' | 'block'>> {
    for (const [, argument] of batch.calls) structuredClone(argument)
    return new Promise((resolve, reject) => {
      const answer = (results: Result[] = batch.calls.map(() => ({ ok: 'done' }))) =>
        resolve({ results, block: new ArrayBuffer(0) })
      this.sent.push({ batch, answer, fail: reject })
    })
  }

  get sizes(): number[] {
    return this.sent.map(({ batch }) => batch.calls.length)
  }
}

function held() {
  const thread = new HeldThread()
  return { thread, queue: new CallQueue(thread as unknown as Thread, 'test.db') }
}

/** Two batches are on their way, so whatever comes now waits. */
async function busy() {
  const { thread, queue } = held()
  for (let batch = 0; batch < 2; batch++) {
    void queue.call('plan', null)
    await nextTurn()
  }
  return { thread, queue }
}

const calls = (queue: CallQueue, count: number) =>
  Array.from({ length: count }, (_, index) => queue.call('plan', { index }))

describe('the queue before the store’s thread', () => {
  test('sends what comes in one turn as one batch, and one call alone at once', async () => {
    const { thread, queue } = held()
    calls(queue, 1)
    await nextTurn()
    calls(queue, 5)
    await nextTurn()
    assert.deepEqual(thread.sizes, [1, 5])
  })

  test('sends many without waiting for the end of the turn, so that the thread works while others are prepared', () => {
    const { thread, queue } = held()
    calls(queue, 40)
    assert.deepEqual(thread.sizes, [32])
  })

  test('gathers what comes while two batches are on their way into the next', async () => {
    const { thread, queue } = held()
    for (const count of [1, 1, 20, 30]) {
      calls(queue, count)
      await nextTurn()
    }
    assert.deepEqual(thread.sizes, [1, 1])
    thread.sent[0]!.answer()
    await nextTurn()
    assert.deepEqual(thread.sizes, [1, 1, 50])
  })

  test(`puts at most ${maxBatch} calls and ${maxBatchBytes} bytes in one transaction`, async () => {
    const { thread, queue } = await busy()
    calls(queue, maxBatch + 1)
    for (const { answer } of [...thread.sent]) answer()
    await nextTurn()
    assert.deepEqual(thread.sizes, [1, 1, maxBatch, 1])

    const big = held()
    const entry = { ...delivery(), payload: sealed('x'.repeat(maxBatchBytes / 2 - 1_000)) }
    for (let i = 0; i < 3; i++) void big.queue.accept(entry)
    void big.queue.accept({ ...delivery(), payload: sealed('x'.repeat(maxBatchBytes + 1)) })
    await nextTurn()
    assert.deepEqual(big.thread.sizes, [2, 1])
    for (const { answer } of big.thread.sent) answer()
    await nextTurn()
    assert.deepEqual(big.thread.sizes, [2, 1, 1])
  })

  test(`refuses as overloaded beyond ${maxQueued} calls or ${maxQueuedBytes} bytes, and goes on when there is room`, async () => {
    const { thread, queue } = await busy()
    const waiting = calls(queue, maxQueued)
    await rejects(queue.call('plan', null), 'overloaded')
    thread.sent[0]!.answer()
    await nextTurn()
    void queue.call('plan', null)
    thread.sent[2]!.answer()
    assert.equal(await waiting[0], 'done')

    const bytes = held()
    const entry = { ...delivery(), payload: sealed('x'.repeat(maxQueuedBytes / 4 - 1_000)) }
    for (let i = 0; i < 4; i++) void bytes.queue.accept(entry)
    await rejects(bytes.queue.accept(entry), 'overloaded')
  })

  test('gives each call its own answer', async () => {
    const { thread, queue } = held()
    const [one, two] = calls(queue, 2)
    await nextTurn()
    thread.sent[0]!.answer([{ ok: 1 }, { failed: { code: 'store_full', message: 'full', hint: 'free it' } }])
    assert.equal(await one, 1)
    await assert.rejects(two!, { code: 'store_full', message: 'full', hint: 'free it' })
  })

  test('a value that cannot cross the thread fails its own call alone', async () => {
    const { thread, queue } = held()
    const good = queue.call('plan', 1)
    const bad = queue.call('plan', () => {})
    const other = queue.call('plan', 2)
    const outcomes = Promise.allSettled([good, bad, other])
    for (let i = 0; i < 10; i++) {
      await nextTurn()
      for (const { answer } of thread.sent) answer()
    }
    assert.deepEqual(
      (await outcomes).map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
  })

  test('a thread that is lost leaves what was on its way unknown', async () => {
    const { thread, queue } = held()
    const [one, two] = calls(queue, 2)
    await nextTurn()
    thread.sent[0]!.fail(new CounterfoilError('commit_unknown', 'the thread ended'))
    await rejects(one!, 'commit_unknown')
    await rejects(two!, 'commit_unknown')
    assert.equal(thread.sent.length, 1)
  })

  test('is drained when the last answer has come', async () => {
    const { thread, queue } = held()
    await queue.drained()
    calls(queue, 3)
    let isDrained = false
    const drained = queue.drained().then(() => {
      isDrained = true
    })
    await nextTurn()
    assert.equal(isDrained, false)
    thread.sent[0]!.answer()
    await drained
  })

  test('packs acceptances side by side and gives their bytes back', async () => {
    const { thread, queue } = held()
    const entries = [
      delivery(),
      { ...delivery(), payload: sealed('') },
      { ...delivery(), payload: sealed('some more') },
    ]
    for (const entry of entries) void queue.accept(entry)
    await nextTurn()
    const { calls: packed, block } = thread.sent[0]!.batch
    for (const [index, { payload }] of entries.entries()) {
      const bytes = bytesOf(packed[index]![1] as PackedAcceptance, block)
      assert.equal(Buffer.compare(bytes.ciphertext, payload.ciphertext), 0)
      assert.equal(Buffer.compare(bytes.nonce, payload.nonce), 0)
    }
  })
})
