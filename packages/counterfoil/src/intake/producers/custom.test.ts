import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { deliveryOf } from '../fixtures/senders.ts'
import { type CustomOptions, custom, type HmacAuthentication } from './index.ts'

const now = 1_767_225_600
const secret = 'a secret that only tests know'
const body = '{"id":7,"type":"made","n":{"at":"2026-01-01T00:00:00Z"}}'
const hmac = (text: string, algorithm = 'sha256') => createHmac(algorithm, secret).update(text)

const signing: HmacAuthentication = {
  scheme: 'hmac',
  secrets: secret,
  header: 'X-Signature',
  encoding: 'hex',
}
const make = (about: Partial<CustomOptions> = {}) =>
  custom({ kind: 'acme', authentication: signing, id: '/id', type: '/type', retryHorizon: '1d', ...about })
const verify = (about: Partial<CustomOptions>, headers: Record<string, string>, text = body) =>
  make(about).verify(deliveryOf(headers, text, { url: 'https://hooks.example/in/acme?a=1' }), now * 1000).kind

describe('a producer of one’s own', () => {
  test('signs what its template says', () => {
    const time = String(now)
    const templates = [
      [{}, body],
      [{ mark: 'v1=' }, body],
      [{ algorithm: 'sha512' }, body],
      [{ algorithm: 'sha1', encoding: 'base64' }, body],
      [{ signs: '{method} {url}\n{body}' }, `POST https://hooks.example/in/acme?a=1\n${body}`],
      [{ signs: '{header:x-event}|{body}' }, `made|${body}`],
      [{ timestamp: { header: 'X-Time' } }, `${time}.${body}`],
      [{ signs: '{timestamp}:{body}', timestamp: { header: 'X-Time', unit: 'ms' } }, `${time}000:${body}`],
    ] as const satisfies readonly (readonly [Partial<HmacAuthentication>, string])[]
    for (const [about, signed] of templates) {
      const authentication: HmacAuthentication = { ...signing, ...about }
      const digest = hmac(signed, authentication.algorithm).digest(authentication.encoding)
      const stamp = authentication.timestamp?.unit === 'ms' ? `${time}000` : time
      const headers = {
        'x-signature': `${authentication.mark ?? ''}${digest}`,
        'x-time': stamp,
        'x-event': 'made',
      }
      assert.equal(verify({ authentication }, headers), 'verified', JSON.stringify(about))
      assert.equal(verify({ authentication }, headers, `${body} `), 'refused', JSON.stringify(about))
      assert.equal(verify({ authentication }, { ...headers, 'x-signature': digest.slice(1) }), 'refused')
    }
  })

  test('whether id and type are signed follows from where they are', () => {
    const provenance = (about: Partial<CustomOptions>) => make(about).provenance
    const header = { header: 'X-Id' }
    assert.equal(provenance({}), 'signed')
    assert.equal(provenance({ id: header }), 'unsigned')
    assert.equal(provenance({ type: header }), 'unsigned')
    assert.equal(
      provenance({ id: header, authentication: { ...signing, signs: '{header:x-id}.{body}' } }),
      'signed',
    )
    assert.equal(provenance({ authentication: { ...signing, signs: '{header:x-id}' } }), 'unsigned')
    assert.equal(provenance({ authentication: { scheme: 'bearer', tokens: 'token' } }), 'unsigned')
  })

  test('says what an event is by its places, and by default takes the whole payload', () => {
    const payload = JSON.parse(body)
    const delivery = deliveryOf({ 'x-source': 'shop-1' }, body)
    const kind = make({
      at: '/n/at',
      version: { header: 'X-Version' },
      source: { header: 'X-Source' },
      data: '/n',
    })
    const at = Date.UTC(2026, 0, 1)
    assert.deepEqual(kind.facts(payload, delivery), {
      id: '7',
      source: 'shop-1',
      type: 'made',
      version: null,
      at,
    })
    assert.deepEqual(kind.data(payload), { at: '2026-01-01T00:00:00Z' })
    assert.equal(make().data(payload), payload)
    assert.equal(make({ data: '/absent' }).data(payload), payload)
    assert.equal(make().facts(undefined, delivery).id, null)
    assert.equal(make().facts({ id: '', type: 1 }, delivery).type, null)
  })

  test('may show a credential instead: bearer, basic, or a header', () => {
    const basic = `Basic ${Buffer.from('user:pass:word').toString('base64')}`
    const ways = [
      [{ scheme: 'bearer', tokens: ['old', 'new'] }, { authorization: 'bearer new' }],
      [{ scheme: 'basic', credentials: 'user:pass:word' }, { authorization: basic }],
      [{ scheme: 'header', header: 'X-Token', tokens: 'new' }, { 'x-token': 'new' }],
    ] as const
    for (const [authentication, headers] of ways) {
      assert.equal(verify({ authentication }, headers), 'verified', authentication.scheme)
      for (const [name, value] of Object.entries(headers)) {
        for (const wrong of [`${value}x`, value.slice(1), '', `${value}, ${value}`]) {
          assert.equal(
            verify({ authentication }, { [name]: wrong }),
            'refused',
            `${authentication.scheme} ${wrong}`,
          )
        }
      }
      assert.equal(verify({ authentication }, {}), 'refused')
    }
  })

  test('is refused at construction when it is described wrongly', () => {
    const wrong: readonly unknown[] = [
      { authentication: { ...signing, secrets: '' } },
      { authentication: { ...signing, header: 'no header' } },
      { authentication: { ...signing, signs: '' } },
      { authentication: { ...signing, signs: '{payload}' } },
      { authentication: { ...signing, signs: '{body' } },
      { authentication: { ...signing, signs: '{timestamp}.{body}' } },
      { authentication: { ...signing, signs: '{body}', timestamp: { header: 'X-Time' } } },
      { authentication: { ...signing, timestamp: { header: 'X-Time', toleranceSeconds: 0 } } },
      { authentication: { scheme: 'bearer', tokens: [] } },
      { authentication: { scheme: 'header', header: ' ', tokens: 'x' } },
      { id: '' },
      { id: 'id' },
      { type: { header: 'a b' } },
      { data: '/~2' },
    ]
    for (const about of wrong) {
      assert.throws(() => make(about as CustomOptions), { code: 'config_invalid' }, JSON.stringify(about))
    }
  })

  test('that signs the URL wants its public address', () => {
    assert.equal(make({ authentication: { ...signing, signs: '{url}{body}' } }).signsUrl, true)
    assert.equal(make().signsUrl, false)
  })
})
