import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { twinsOf } from '../fixtures/twins.ts'
import { bodyOf, kindOf, vectorNames, vectorsOf, verdict } from '../fixtures/vectors.ts'

describe('twins of accepted vectors', () => {
  for (const name of vectorNames.filter((one) => one in kindOf)) {
    const accepted = vectorsOf(name).filter((vector) => vector.expect === 'accept')
    const twins = accepted.flatMap((vector) => twinsOf(name, vector).map((twin) => ({ vector, twin })))
    const names = [...new Set(twins.map(({ twin }) => twin.name))]

    describe(name, () => {
      assert.ok(names.length >= 5, `${name} has no twins`)
      for (const what of names) {
        test(what, async () => {
          for (const { vector, twin } of twins.filter((one) => one.twin.name === what)) {
            const { kind } = await verdict(name, vector, twin)
            assert.equal(kind, twin.expect === 'accept' ? 'verified' : 'refused', `${vector.id}: ${what}`)
          }
        })
      }

      const signed = accepted.filter((vector) =>
        twinsOf(name, vector).some((twin) => twin.name === 'one bit of the body changed'),
      )
      if (signed.length === 0) return
      test('any one bit of the body', async () => {
        await fc.assert(
          fc.asyncProperty(fc.constantFrom(...signed), fc.nat(), fc.nat(7), async (vector, at, bit) => {
            const body = bodyOf(vector)
            body[at % body.length]! ^= 1 << bit
            assert.equal((await verdict(name, vector, { body })).kind, 'refused')
          }),
        )
      })
    })
  }
})
