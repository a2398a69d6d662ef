import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Progress } from './progress.ts'

test('an offset is passed only when every earlier record is done with, and in the end all are', () => {
  const records = fc.uniqueArray(fc.nat(1_000), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(
      records.chain((offsets) =>
        fc.tuple(fc.constant(offsets), fc.shuffledSubarray(offsets, { minLength: offsets.length })),
      ),
      ([offsets, ended]) => {
        const inOrder = [...offsets].sort((a, b) => a - b)
        const progress = new Progress()
        for (const offset of inOrder) progress.begin(offset)
        const done = new Set<number>()
        let committed = inOrder[0]!
        for (const offset of ended) {
          done.add(offset)
          const next = progress.end(offset)
          if (next === null) continue
          assert.ok(next > committed, 'it never goes back')
          assert.ok(
            inOrder.every((one) => one >= next || done.has(one)),
            'and passes nothing that is open',
          )
          committed = next
        }
        assert.equal(committed, inOrder.at(-1)! + 1)
      },
    ),
  )
})
