import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { kinds } from '../fixtures/kinds.ts'
import { deliveryOf } from '../fixtures/senders.ts'
import { producer } from '../producer.ts'

interface Vector {
  readonly id: string
  readonly expect: 'accept' | 'reject'
  readonly why: string
  readonly headers: Readonly<Record<string, string>>
  readonly bodyBase64: string
  readonly secretOrKey: string
  readonly secretsOrKeys?: readonly string[]
  /** Unix seconds. */
  readonly now: number
  readonly toleranceSec?: number
}

for (const [name, { make, signature, wrongSecret }] of Object.entries(kinds)) {
  const vectors = JSON.parse(
    readFileSync(join(import.meta.dirname, `vectors/${name}.json`), 'utf8'),
  ) as Vector[]
  const bodyOf = (vector: Vector) => Buffer.from(vector.bodyBase64, 'base64')
  const secretsOf = (vector: Vector) => vector.secretsOrKeys ?? vector.secretOrKey
  const verify = (
    vector: Vector,
    twin: { headers?: Record<string, string>; body?: Uint8Array; secrets?: string | readonly string[] } = {},
  ) =>
    make(twin.secrets ?? secretsOf(vector), vector.toleranceSec).verify(
      deliveryOf(twin.headers ?? vector.headers, twin.body ?? bodyOf(vector)),
      vector.now * 1000,
    )

  describe(`${name} vectors`, () => {
    assert.ok(vectors.length > 5)
    for (const vector of vectors) {
      test(`${vector.id} ${vector.expect}: ${vector.why}`, () => {
        const { kind } = verify(vector)
        assert.equal(kind, vector.expect === 'accept' ? 'verified' : 'refused')
      })
    }
  })

  describe(`${name}: twins of accepted vectors are refused`, () => {
    const accepted = vectors.filter((vector) => vector.expect === 'accept')
    const header = (vector: Vector) => vector.headers[signature] ?? vector.headers['webhook-signature']!
    const withSignature = (vector: Vector, value: string) => {
      const own = signature in vector.headers ? signature : 'webhook-signature'
      return { ...vector.headers, [own]: value }
    }
    const refuses = (what: string, twin: (vector: Vector) => Parameters<typeof verify>[1] | null) =>
      test(what, () => {
        for (const vector of accepted) {
          const changed = twin(vector)
          if (changed === null) continue
          assert.equal(verify(vector, changed).kind, 'refused', `${what}: ${vector.id}`)
        }
      })

    test('a body of which one bit differs', () => {
      fc.assert(
        fc.property(fc.constantFrom(...accepted), fc.nat(), fc.nat(7), (vector, at, bit) => {
          const body = bodyOf(vector)
          if (body.length === 0) return
          body[at % body.length]! ^= 1 << bit
          assert.equal(verify(vector, { body }).kind, 'refused')
        }),
      )
    })
    refuses('a byte less', (vector) => {
      const body = bodyOf(vector)
      return body.length === 0 ? null : { body: body.subarray(1) }
    })
    refuses('a trailing newline', (vector) => ({ body: Buffer.concat([bodyOf(vector), Buffer.from('\n')]) }))
    refuses('a byte order mark', (vector) => ({
      body: Buffer.concat([Buffer.from('\ufeff'), bodyOf(vector)]),
    }))
    refuses('another encoding', (vector) => {
      const body = bodyOf(vector)
      return body.length === 0 ? null : { body: Buffer.from(body.toString('utf8'), 'utf16le') }
    })
    refuses('a body that was parsed and written again', (vector) => {
      try {
        const text = bodyOf(vector).toString('utf8')
        const body = Buffer.from(JSON.stringify(JSON.parse(text)))
        return body.equals(bodyOf(vector)) ? null : { body }
      } catch {
        return null
      }
    })
    refuses('another secret', () => ({ secrets: wrongSecret }))
    refuses('no signature', (vector) => {
      const { [signature]: _, 'webhook-signature': __, ...headers } = vector.headers
      return { headers }
    })
    refuses('an empty signature', (vector) => ({ headers: withSignature(vector, '') }))
    refuses('a signature in capitals', (vector) => ({
      headers: withSignature(vector, header(vector).toUpperCase()),
    }))
    refuses('something behind every signature', (vector) => ({
      headers: withSignature(vector, header(vector).replaceAll(/([A-Za-z0-9=]+)(?=[ ,]|$)/g, '$1=00')),
    }))
    refuses('a cut signature', (vector) => ({
      headers: withSignature(vector, header(vector).replaceAll(/[A-Za-z0-9+/=]{4}(?=[ ,]|$)/g, '')),
    }))
    refuses('blanks inside', (vector) => ({
      headers: withSignature(vector, header(vector).replaceAll(/([=,])/g, '$1 ')),
    }))

    test('the right secret among others is found, wherever it stands', () => {
      for (const vector of accepted) {
        const own = secretsOf(vector)
        const list = typeof own === 'string' ? [own] : own
        assert.equal(verify(vector, { secrets: [wrongSecret, ...list] }).kind, 'verified', vector.id)
        assert.equal(verify(vector, { secrets: [...list, wrongSecret] }).kind, 'verified', vector.id)
      }
    })

    const timed = name === 'github' ? [] : accepted
    test('the timestamp, where there is one, holds to the second in both directions', () => {
      for (const vector of timed) {
        const signedAt = Number(
          vector.headers['svix-timestamp'] ??
            vector.headers['webhook-timestamp'] ??
            /t=(\d+)/.exec(header(vector))?.[1],
        )
        const kind = make(secretsOf(vector), 300)
        const at = (seconds: number) =>
          kind.verify(deliveryOf(vector.headers, bodyOf(vector)), (signedAt + seconds) * 1000)
        for (const skew of [-300, -240, 0, 240, 300]) assert.equal(at(skew).kind, 'verified')
        for (const skew of [-86_400, -600, -301, 301, 600, 86_400]) {
          const answer = at(skew)
          assert.ok(answer.kind === 'refused' && answer.code === 'timestamp_stale', `${vector.id} ${skew}`)
        }
      }
    })
  })

  describe(`${name}: secrets`, () => {
    test('none, an empty one and a blank one are refused at construction', () => {
      for (const secrets of ['', ' ', [], [''], [wrongSecret, '\n'], undefined, [undefined]]) {
        assert.throws(() => make(secrets as string), { code: 'config_invalid' }, JSON.stringify(secrets))
      }
    })

    test('are in no print of the producer, and in no refusal', () => {
      const secret = accepted(vectors).secretOrKey
      const kind = make(secret)
      const made = producer('p', kind)
      const raw = secret.replace(/^wh(sec|pk)_/, '')
      const refusal = kind.verify(deliveryOf({ [signature]: 'x' }, 'x'), 0)
      const prints = [
        inspect(made, { depth: 20, showHidden: true }),
        JSON.stringify(made),
        JSON.stringify(refusal),
      ]
      for (const print of prints) {
        for (const form of [
          raw,
          Buffer.from(raw, 'base64').toString('hex'),
          Buffer.from(raw).toString('hex'),
        ])
          assert.ok(!print.includes(form))
      }
    })
  })

  function accepted(all: readonly Vector[]): Vector {
    return all.find((vector) => vector.expect === 'accept')!
  }
}
