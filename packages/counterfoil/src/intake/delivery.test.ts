import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import { fromIncoming, fromRequest } from './arrival.ts'
import { ArrivedDelivery } from './delivery.ts'
import { trustingKind } from './fixtures/kind-under-test.ts'
import { producer } from './producer.ts'

const nothing = new Uint8Array(0)
const deliveryAt = (url: string, publicUrl?: string) =>
  new ArrivedDelivery(
    fromRequest(new Request(url, { headers: { host: 'h', 'X-A': '1' } })),
    publicUrl,
    nothing,
  )

/** As Node's HTTP server tells it: a path alone. */
const incomingAt = (path: string, publicUrl?: string) => {
  const arrival = { ...fromRequest(new Request('http://h/')), url: path, scheme: 'https' }
  return new ArrivedDelivery(
    { ...arrival, header: (name) => (name === 'host' ? 'h:8' : null) },
    publicUrl,
    nothing,
  )
}

describe('the URL of a delivery', () => {
  test('is the one that was sent, or the configured one with the query that came', () => {
    assert.equal(deliveryAt('https://h/in/x?a=1').url, 'https://h/in/x?a=1')
    assert.equal(incomingAt('/in/x?a=1').url, 'https://h:8/in/x?a=1')
    for (const make of [deliveryAt, incomingAt]) {
      const at = make === deliveryAt ? 'http://h' : ''
      assert.equal(
        make(`${at}/in/x?a=%20b&a=2`, 'https://hooks.test/in/x').url,
        'https://hooks.test/in/x?a=%20b&a=2',
      )
      assert.equal(make(`${at}/in/x`, 'https://hooks.test/in/x').url, 'https://hooks.test/in/x')
      assert.equal(make(`${at}/in/x?`, 'https://hooks.test/y').url, 'https://hooks.test/y?')
    }
  })

  test('gives its query decoded: the first of a name, null for none', () => {
    const delivery = deliveryAt('https://h/in/x?hub.challenge=a%26b+c&n=1&n=2&empty=')
    assert.deepEqual(
      ['hub.challenge', 'n', 'empty', 'none'].map((name) => delivery.query(name)),
      ['a&b c', '1', '', null],
    )
    assert.equal(deliveryAt('https://h/in/x').query('a'), null)
  })

  test('a header by a name that none can have is absent, whoever chose the name', () => {
    const { headers } = { headers: { 'x-a': '1' } }
    const arrivals = [
      fromRequest(new Request('https://h/', { headers })),
      fromIncoming({ headers, rawHeaders: [], socket: {} } as unknown as IncomingMessage),
    ]
    for (const { header } of arrivals) {
      for (const name of [
        '',
        'a b',
        'é',
        'a\n',
        ':path',
        'constructor',
        'toString',
        '__proto__',
        'hasOwnProperty',
      ]) {
        assert.equal(header(name), null, name)
      }
      assert.equal(header('x-a'), '1')
    }
  })

  test('headers are all there, by lower-case name', () => {
    assert.deepEqual(new Map(deliveryAt('https://h/').headers()).get('x-a'), '1')
  })
})

describe('publicUrl', () => {
  test('is asked for where the URL is signed, and has no query', () => {
    const signs = trustingKind({ signsUrl: true })
    assert.throws(() => producer('p', signs), { code: 'config_invalid', message: /signs the URL/ })
    assert.equal(producer('p', signs, { publicUrl: 'https://h/in/p' }).publicUrl, 'https://h/in/p')
    for (const publicUrl of ['', 'nonsense', '/in/p', 'ftp://h/in/p', 'https://h/?a', 'https://h/#a']) {
      assert.throws(() => producer('p', trustingKind(), { publicUrl }), { code: 'config_invalid' }, publicUrl)
    }
  })
})
