import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { acceptAll, hub, now, problemOf, standard, testIntake } from './fixtures/intake.ts'
import { gitHubRequest, standardHeaders, standardRequest, streamedRequest } from './fixtures/senders.ts'
import { producer } from './producer.ts'
import { TokenBucket } from './rate-limit.ts'

const paid = JSON.stringify({ type: 'invoice.paid', data: { id: 'in_1' } })

describe('a rate', () => {
  const limited = producer('limited', standard.kind, { rate: { perSecond: 0.5, burst: 3 } })
  const made = () => testIntake(acceptAll, { producers: [limited], types: [limited.event('invoice.paid')] })
  let sent = 0
  const good = () => standardRequest(`m${++sent}`, now, paid, { path: 'limited' })

  test('lets a burst through, then tells when to come again, and that is true', async () => {
    const { receive, clock, entries, counters } = made()
    for (let index = 0; index < 3; index++) assert.equal((await receive(good())).status, 202)
    const refused = await receive(good())
    assert.equal(refused.status, 429)
    const { code, retryAfter } = await problemOf(refused)
    assert.deepEqual([code, retryAfter], ['rate_limited', '2'])
    assert.equal(entries.length, 3)
    assert.equal(counters.get('limited rate_limited'), 1)
    clock.jump(1_999)
    assert.equal((await receive(good())).status, 429)
    clock.jump(1)
    assert.equal((await receive(good())).status, 202)
    assert.equal((await receive(good())).status, 429)
  })

  test('is not used up by strangers, nor by other producers', async () => {
    const { receive } = made()
    for (let index = 0; index < 50; index++) {
      assert.equal(
        (await receive(standardRequest('m', now, paid, { path: 'limited', instead: '{}' }))).status,
        401,
      )
      assert.equal((await receive(standardRequest(`o${index}`, now, paid))).status, 202)
    }
    assert.equal((await receive(good())).status, 202)
  })

  test('refuses before the body is read', async () => {
    const { receive } = made()
    for (let index = 0; index < 3; index++) await receive(good())
    const { request, pulled } = streamedRequest('limited', standardHeaders('m', now, paid), [
      Buffer.from(paid),
    ])
    assert.equal((await receive(request)).status, 429)
    assert.equal(pulled(), 0)
  })

  test('over any time lets through no more than its burst and its share of the time', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 500, noNaN: true }),
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.integer({ min: -2_000, max: 5_000 }), { maxLength: 200 }),
        (perSecond, burst, steps) => {
          const clock = new VirtualClock()
          const bucket = new TokenBucket({ perSecond, burst }, clock)
          let taken = 0
          let elapsed = 0
          for (const step of steps) {
            clock.jump(step)
            elapsed += Math.max(0, step)
            for (let tries = 0; tries < 20; tries++) {
              const wait = bucket.wait()
              if (wait === 0) {
                bucket.take()
                taken++
              } else {
                assert.ok(wait <= Math.ceil(1_000 / perSecond) + 1)
              }
            }
          }
          assert.ok(taken <= burst + (elapsed / 1_000) * perSecond + 1e-6)
        },
      ),
    )
  })

  test('that is none is refused when it is configured', () => {
    for (const rate of [
      { perSecond: 0 },
      { perSecond: -1 },
      { perSecond: Number.NaN },
      { perSecond: 1, burst: 0.5 },
    ]) {
      assert.throws(() => producer('p', standard.kind, { rate }), { code: 'config_invalid' })
    }
  })
})

describe('a compressed body', () => {
  const compress = { gzip: gzipSync, 'x-gzip': gzipSync, deflate: deflateSync, br: brotliCompressSync }
  const small = producer('small', standard.kind, { maxBytes: 1_000 })
  const made = () => testIntake(acceptAll, { producers: [small], types: [small.event('invoice.paid')] })
  const send = (coding: string, body: Uint8Array, signed: string | Uint8Array<ArrayBuffer> = paid) =>
    standardRequest('m1', now, signed, {
      path: 'small',
      headers: { 'content-encoding': coding },
      instead: new Uint8Array(body),
    })

  test('is verified and kept as the content that it stands for', async () => {
    for (const [coding, encode] of Object.entries(compress)) {
      const { receive, entries } = made()
      assert.equal((await receive(send(coding, encode(paid)))).status, 202, coding)
      assert.equal((await receive(send(` ${coding.toUpperCase()} `, encode(paid)))).status, 202, coding)
      assert.equal((await receive(send('identity', Buffer.from(paid)))).status, 202)
      assert.equal(new Set(entries.map(({ receipt }) => receipt.rawFingerprint)).size, 1)
      assert.equal(entries[0]!.receipt.bytes, paid.length)
      assert.equal((await receive(send(coding, encode(`${paid} `)))).status, 401)
    }
  })

  test('that stands for more than the limit is refused, however small it is', async () => {
    for (const [coding, encode] of Object.entries(compress)) {
      const { receive } = made()
      const at = (bytes: number) => encode(Buffer.alloc(bytes, ' '))
      assert.equal((await receive(send(coding, at(1_000)))).status, 401, coding)
      assert.equal((await receive(send(coding, at(1_001)))).status, 413, coding)
    }
  })

  test('that is a bomb costs no more memory than a large one', async () => {
    const roomy = producer('roomy', standard.kind, { maxBytes: 1_000_000 })
    const { receive } = testIntake(acceptAll, { producers: [roomy] })
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(200_000_000)))
    const before = process.memoryUsage().rss
    for (let index = 0; index < 20; index++) {
      const request = standardRequest('m1', now, paid, {
        path: 'roomy',
        headers: { 'content-encoding': 'gzip' },
        instead: bomb,
      })
      assert.equal((await receive(request)).status, 413)
    }
    assert.ok(process.memoryUsage().rss - before < 200_000_000)
  })

  test('that is not compressed as it says, or torn, is broken', async () => {
    for (const [coding, encode] of Object.entries(compress)) {
      const { receive } = made()
      const whole = encode(paid)
      for (const body of [Buffer.from(paid), whole.subarray(0, whole.length >> 1), new Uint8Array(0)]) {
        assert.equal((await problemOf(await receive(send(coding, body)))).code, 'body_broken', coding)
      }
    }
    assert.equal(
      (await problemOf(await made().receive(send('deflate', deflateRawSync(paid))))).code,
      'body_broken',
    )
  })

  test('in a way that is unknown, or in several, is refused before it is read', async () => {
    for (const coding of [
      'zstd',
      'compress',
      'gzip, br',
      'gzip, gzip',
      'identity, gzip',
      'gzip;q=1',
      'x',
      '*',
    ]) {
      const headers = { ...standardHeaders('m', now, paid), 'content-encoding': coding }
      const { request, pulled } = streamedRequest('small', headers, [Buffer.from(paid)])
      assert.equal((await made().receive(request)).status, 415, coding)
      assert.equal(pulled(), 0)
    }
  })
})

describe('ids and types', () => {
  /** A header holds bytes, one a character. */
  const onTheWire = (text: string) => Buffer.from(text).toString('latin1')
  const withId = (id: string) => standardRequest(id, now, paid, { headers: { 'webhook-id': onTheWire(id) } })

  test('are kept byte for byte: what looks the same is not the same', async () => {
    const { receive, entries } = testIntake(acceptAll)
    const spellings = [
      'é',
      'e\u0301',
      'E\u0301',
      'а',
      'a',
      'Å',
      '\u212b',
      'ﬁ',
      'fi',
      'a ',
      ' a',
      'a\u200b',
      'a\u00ad',
    ]
    for (const type of spellings) await receive(standardRequest('m', now, JSON.stringify({ type, data: {} })))
    assert.deepEqual(
      entries.map(({ receipt }) => receipt.type),
      spellings,
    )
    const { receive: receiveIds, entries: kept } = testIntake(acceptAll)
    const ids = spellings.map((id) => `x${id}x`).filter((id) => !/\p{Cc}/u.test(onTheWire(id)))
    for (const id of ids) await receiveIds(withId(id))
    assert.deepEqual(
      kept.map(({ receipt }) => receipt.eventId),
      ids.map(onTheWire),
    )
    assert.equal(new Set(kept.map(({ receipt }) => receipt.delivery)).size, ids.length)
  })

  test('that no log, terminal or column should hold: an id is refused, a type is quarantined', async () => {
    const { receive, entries } = testIntake(acceptAll, { types: [hub.event('push')] })
    for (const id of ['a\u0085b', 'a\u009bb', 'a\tb', 'x'.repeat(513)]) {
      assert.equal((await receive(withId(id))).status, 400, JSON.stringify(id))
    }
    for (const type of ['a\u0000b', 'a\u001b[2J', 'a\nb', 'x'.repeat(513)]) {
      assert.equal((await receive(standardRequest('m', now, JSON.stringify({ type })))).status, 202)
      const { receipt, next } = entries.at(-1)!
      assert.deepEqual([receipt.type, next.kind], ['-', 'quarantine'])
    }
    assert.equal((await receive(gitHubRequest('a b', 'push', '{}'))).status, 400)
  })
})
