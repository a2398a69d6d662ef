import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { arrives, bodyOf, kindOf, vectorNames, vectorsOf, verdict } from '../fixtures/vectors.ts'

describe('every vector gets its verdict', () => {
  for (const name of vectorNames.filter((one) => one in kindOf)) {
    describe(name, () => {
      for (const vector of vectorsOf(name)) {
        test(`${vector.id} ${vector.expect}: ${vector.why}`, async () => {
          const { kind } = await verdict(name, vector)
          assert.equal(kind, vector.expect === 'accept' ? 'verified' : 'refused')
          if (vector.answer === undefined) return
          const body = bodyOf(vector)
          const payload = body.length === 0 ? undefined : JSON.parse(String(body))
          const answer = kindOf[name]!(vector.config).handshake?.(arrives(vector), payload)
          assert.equal(answer?.status, vector.answer.status)
          assert.equal(answer?.body ?? '', vector.answer.body ?? '')
        })
      }
    })
  }
})
