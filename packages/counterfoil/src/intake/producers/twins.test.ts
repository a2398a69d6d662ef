import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { bindsEveryBit, publishedTwins, twinsOf } from '../fixtures/twins.ts'
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

      const signed = accepted.filter((vector) => bindsEveryBit(name, vector))
      if (signed.length === 0) return
      test('another body under another content type, which is signed by nobody', async () => {
        for (const vector of signed) {
          const { 'content-type': _, 'Content-Type': __, ...rest } = vector.request.headers
          for (const type of ['application/x-www-form-urlencoded', 'application/json', 'text/plain'])
            for (const body of ['', 'a=1', '{}']) {
              const twin = { headers: { ...rest, 'content-type': type }, body: Buffer.from(body) }
              const { kind } = await verdict(name, vector, twin)
              assert.equal(kind, 'refused', `${vector.id}: ${type} ${body}`)
            }
        }
      })

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

test('the published twins are those that are checked here', () => {
  for (const name of vectorNames.filter((one) => one in kindOf)) {
    const file = join(import.meta.dirname, '../../../../../vectors/twins', `${name}.json`)
    const published = JSON.parse(readFileSync(file, 'utf8'))
    const expected = JSON.parse(JSON.stringify(publishedTwins(name)))
    assert.deepEqual(
      published,
      expected,
      `run: npx node --conditions=counterfoil:source scripts/make-twins.ts`,
    )
  }
})
