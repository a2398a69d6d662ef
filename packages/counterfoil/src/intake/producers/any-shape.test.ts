import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { codeOf, type JsonValue } from '../../domain/index.ts'
import { examples } from '../fixtures/examples.ts'
import { keyServer } from '../fixtures/key-server.ts'
import { deliveryOf } from '../fixtures/senders.ts'
import { bodyOf, vectorNames, vectorsOf } from '../fixtures/vectors.ts'
import type { ProducerKind } from '../producer.ts'

/** Names that kinds look for, so that shapes are wrong in every place and not only at the top. */
const names = [
  ...new Set(
    vectorNames.flatMap((name) =>
      vectorsOf(name, ['made']).flatMap((vector) =>
        [
          ...bodyOf(vector)
            .toString()
            .matchAll(/"([\w.-]+)":/g),
        ].map((it) => it[1]!),
      ),
    ),
  ),
]
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom<JsonValue>(
      null,
      true,
      0,
      -1,
      1.5,
      1e300,
      9_007_199_254_740_993n,
      '',
      'Notification',
      'x',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4 }),
  ),
}))

const headerNames = [
  ...new Set(
    vectorNames.flatMap((name) => vectorsOf(name).flatMap(({ request }) => Object.keys(request.headers))),
  ),
].map((name) => name.toLowerCase())
const headers = fc.dictionary(
  fc.constantFrom(...headerNames),
  fc.oneof(
    fc.string(),
    fc.constantFrom(
      '1767225600',
      'v1,AAAA',
      'sha256=00',
      't=1,v1=00',
      'Bearer a.b.c',
      'sig=()',
      '=',
      ':',
      'https://',
    ),
  ),
  { maxKeys: 8 },
)

describe('whatever comes, nothing breaks', () => {
  for (const { name, kind } of examples) {
    test(`${name}: a verified payload of any shape says what it says, or nothing`, () => {
      fc.assert(
        fc.property(value, headers, (payload, given) => {
          const delivery = deliveryOf(given, '')
          kind.handshake?.(delivery, payload)
          for (const element of kind.events?.(payload, delivery) ?? [payload]) {
            const { id, source, type, version, at } = factsOf(kind, element, given)
            assert.ok(id === null || typeof id === 'string')
            assert.ok([type, version].every((one) => one === null || (typeof one === 'string' && one !== '')))
            assert.ok(typeof source === 'string' && source !== '')
            assert.ok(at === null || Number.isSafeInteger(at))
            assert.notEqual(kind.data(element), undefined)
          }
          factsOf(kind, undefined, given)
        }),
      )
    })

    test(`${name}: what nobody signed is refused, whatever it is`, async () => {
      const now = 1_767_225_600_000
      const { keys } = keyServer(kind.keyHosts ?? [], () => '{"keys":[]}')
      await fc.assert(
        fc.asyncProperty(
          headers,
          fc.oneof(fc.json(), fc.string(), fc.webQueryParameters()),
          async (given, text) => {
            const url = `https://hooks.example/in/it?${text.replaceAll('#', '')}`
            const delivery = deliveryOf(given, text, {
              url: URL.canParse(url) ? url : 'https://hooks.example/',
            })
            try {
              assert.equal((await kind.verify(delivery, now, keys)).kind, 'refused')
            } catch (error) {
              assert.equal(codeOf(error), 'key_address_refused')
            }
          },
        ),
      )
    })
  }
})

/** The token was verified before, so it can be read. */
function factsOf(kind: ProducerKind, payload: JsonValue | undefined, given: Record<string, string>) {
  const token = vectorsOf('plaid')[0]!.request.headers['Plaid-Verification']!
  return kind.facts(payload, deliveryOf({ ...given, 'plaid-verification': token }, ''))
}
