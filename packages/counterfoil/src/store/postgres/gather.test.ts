import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { CounterfoilError } from '../../domain/index.ts'
import { answerEach, answerTogether, Gatherer, maxQueued } from './gather.ts'

const none = () => []

/** A batch's work that is held until it is told to end. */
function held() {
  const batches: { calls: readonly number[]; end: (answers?: (number | Error)[]) => void }[] = []
  const perform = (calls: readonly number[]) =>
    new Promise<readonly (number | Error)[]>((resolve) => {
      batches.push({ calls, end: (answers = [...calls]) => resolve(answers) })
    })
  return { batches, perform }
}

test('calls of one turn make one batch; what comes while the lanes are busy makes the next', async () => {
  const { batches, perform } = held()
  const gatherer = new Gatherer('here', { lanes: 1, maxBatch: 100 }, perform)
  const first = [1, 2, 3].map((call) => gatherer.push(call))
  await nextTurn()
  const second = [4, 5].map((call) => gatherer.push(call))
  await nextTurn()
  assert.deepEqual(
    batches.map(({ calls }) => calls),
    [[1, 2, 3]],
  )
  batches[0]!.end()
  assert.deepEqual(await Promise.all(first), [1, 2, 3])
  await nextTurn()
  assert.deepEqual(
    batches.map(({ calls }) => calls),
    [
      [1, 2, 3],
      [4, 5],
    ],
  )
  batches[1]!.end([4, new Error('alone')])
  assert.equal(await second[0], 4)
  await assert.rejects(second[1]!, /alone/)
})

test('a batch ends at its most calls and its most bytes; a larger single call goes alone', async () => {
  const { batches, perform } = held()
  const gatherer = new Gatherer(
    'here',
    { lanes: 9, maxBatch: 3, maxBytes: 10, bytesOf: (call: number) => call },
    perform,
  )
  for (const call of [1, 1, 1, 6, 6, 99, 2]) void gatherer.push(call)
  await nextTurn()
  assert.deepEqual(
    batches.map(({ calls }) => calls),
    [[1, 1, 1], [6], [6], [99], [2]],
  )
})

test('no more than the lanes are on their way, and no more than the limit waits', async () => {
  const { batches, perform } = held()
  const gatherer = new Gatherer('here', { lanes: 2, maxBatch: 1 }, perform)
  const calls = Array.from({ length: maxQueued }, (_, call) => gatherer.push(call))
  await assert.rejects(gatherer.push(-1), { code: 'overloaded' })
  await nextTurn()
  assert.equal(batches.length, 2)
  for (let done = 0; done < maxQueued; done++) {
    batches[done]!.end()
    await calls[done]
  }
  await gatherer.drained()
})

test('calls that name the same thing never meet, none is forgotten, and each has its own answer', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          names: fc.array(fc.nat({ max: 4 }).map(String), { maxLength: 3 }),
          waits: fc.nat({ max: 3 }),
        }),
      ),
      async (calls) => {
        const left = new Map(calls.map((call) => [call, call.waits]))
        const answers = await answerTogether(
          calls,
          ({ names }) => names,
          async (some) => {
            const named = some.flatMap(({ names }) => [...new Set(names)])
            assert.equal(new Set(named).size, named.length)
            return some.map((call) => {
              const waits = left.get(call)!
              left.set(call, waits - 1)
              return waits === 0 ? call : undefined
            })
          },
        )
        assert.deepEqual(answers, calls)
      },
    ),
  )
})

test('calls of one name are decided in the order they came', async () => {
  const seen: number[] = []
  await answerTogether(
    [1, 2, 3],
    () => ['same'],
    async (some) => {
      seen.push(...some)
      return some
    },
  )
  assert.deepEqual(seen, [1, 2, 3])
})

test('a statement that fails is run again call by call, and only the culprit fails', async () => {
  const answers = await answerEach([1, 2, 3], none, async (some: readonly number[]) => {
    if (some.includes(2)) throw new Error('not two')
    return some
  })
  assert.deepEqual([answers[0], answers[2]], [1, 3])
  assert.match(String(answers[1]), /not two/)
})

test('what befalls the store as a whole is told to all at once and not tried once for each', async () => {
  let statements = 0
  const answers = await answerEach([1, 2, 3], none, async () => {
    statements++
    throw new CounterfoilError('commit_unknown', 'cut')
  })
  assert.equal(statements, 1)
  for (const answer of answers) assert.equal((answer as CounterfoilError).code, 'commit_unknown')
})
