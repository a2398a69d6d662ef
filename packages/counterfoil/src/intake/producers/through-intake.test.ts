import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { acceptAll, testIntake } from '../fixtures/intake.ts'
import { bodyOf, kindOf, type Vector, vectorNames, vectorsOf } from '../fixtures/vectors.ts'
import { producer } from '../producer.ts'

describe('a delivery as it is sent leaves the receipts that it should', () => {
  for (const name of vectorNames) {
    for (const vector of vectorsOf(name, ['made'])) {
      test(`${vector.id}: ${vector.why}`, async () => {
        const { kind, response, entries } = await deliver(name, vector)
        const receipts = entries.map(({ receipt }) => receipt)

        if (vector.answer !== undefined) {
          assert.deepEqual(receipts, [])
          assert.equal(response.status, vector.answer.status)
          assert.equal(await response.text(), vector.answer.body ?? '')
          for (const [header, value] of Object.entries(vector.answer.headers ?? {})) {
            assert.equal(response.headers.get(header), value)
          }
          return
        }
        assert.equal(response.status, kind.answer?.accepted?.status ?? 202, await response.clone().text())
        assert.equal(receipts.length, vector.events?.length)
        for (const [at, expected] of vector.events!.entries()) {
          const receipt = receipts[at]!
          assert.equal(receipt.source, expected.source)
          assert.equal(receipt.type, expected.type)
          assert.equal(receipt.schemaVersion, expected.version ?? null)
          if (expected.id === undefined) assert.match(receipt.eventId, /^content\//)
          else assert.equal(receipt.eventId, expected.id)
        }
        assert.equal(new Set(receipts.map(({ delivery }) => delivery)).size, receipts.length)
      })
    }
  }
})

test('a bad signature is answered as its producer expects', async () => {
  for (const [name, status] of [
    ['gocardless', 498],
    ['discord', 401],
    ['postmark', 401],
    ['azure-service-bus', 401],
  ] as const) {
    const [vector] = vectorsOf(name, ['made'])
    const headers = Object.fromEntries(
      Object.entries(vector!.request.headers).map(([header]) => [header, '00']),
    )
    const request = { ...vector!.request, headers: { ...headers, 'content-type': 'application/json' } }
    const { response, entries } = await deliver(name, { ...vector!, request })
    assert.equal(response.status, status, name)
    assert.deepEqual(entries, [])
  }
})

/** Sent to a producer that is configured as the vector says, at the time it says. */
async function deliver(name: string, vector: Vector) {
  const { method, url, headers } = vector.request
  const { publicUrl, ...config } = vector.config as { publicUrl?: string }
  const kind = kindOf[name]!(config)
  const it = producer('it', kind, publicUrl === undefined ? {} : { publicUrl })
  const { receive, clock, entries } = testIntake(acceptAll, { producers: [it] })
  assert.equal(clock.now(), vector.now * 1000)
  const request = new Request(`https://receiver.test/in/it${new URL(url).search}`, {
    method,
    headers,
    ...(method === 'POST' ? { body: bodyOf(vector) } : {}),
  })
  return { kind, response: await receive(request), entries }
}
