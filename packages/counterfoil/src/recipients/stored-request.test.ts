import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Contract } from '../domain/index.ts'
import { maxRequestBodyBytes } from './request-body.ts'
import { targetUrl } from './request-path.ts'
import { decodeRequest, type EffectRequest, encodeRequest } from './stored-request.ts'

const put: EffectRequest = { method: 'PUT', path: '/seats/42' }
const contract: Contract = {
  idempotency: {
    header: 'X-Request-Key',
    remembersFor: '24h',
    otherPayload: 'refused',
    replays: 'first-success',
  },
  ordering: { fence: { header: 'X-Version', rejectedWith: 412 } },
}

function stored(request: EffectRequest) {
  const { body, ...rest } = decodeRequest(encodeRequest(request))
  return { ...rest, body: body === null ? null : Buffer.from(body).toString() }
}

function refuses(request: EffectRequest, code: string, message: RegExp) {
  assert.throws(() => encodeRequest(request, { contract }), { name: 'CounterfoilError', code, message })
}

describe('the stored form', () => {
  test('comes back as it was given', () => {
    const request = {
      method: 'post',
      path: '/a?b=%20',
      headers: { 'X-B': '2', 'x-a': '1' },
      body: { b: 1, a: ['é', null] },
    }
    assert.deepEqual(stored(request), {
      method: 'POST',
      path: '/a?b=%20',
      headers: { 'content-type': 'application/json', 'x-a': '1', 'x-b': '2' },
      body: '{"b":1,"a":["é",null]}',
    })
  })

  test('is readable, and fixed: a change of it would change stored effects', () => {
    const bytes = encodeRequest({ ...put, headers: { 'X-Tenant': 't1' }, body: { plan: 'pro' } })
    const head =
      '{"method":"PUT","path":"/seats/42","headers":{"content-type":"application/json","x-tenant":"t1"},"body":14}'
    assert.equal(Buffer.from(bytes).toString(), `counterfoil-request/1\n${head}\n{"plan":"pro"}`)
  })

  test('does not depend on the order or the spelling of headers', () => {
    const one = encodeRequest({ ...put, headers: { 'X-A': '1', 'x-b': '2' } })
    assert.deepEqual(encodeRequest({ ...put, headers: { 'X-B': '2', 'x-a': '1' } }), one)
  })

  test('keeps any bytes and any JSON', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (body) => {
        assert.deepEqual(decodeRequest(encodeRequest({ ...put, body })).body, body)
      }),
    )
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        assert.deepEqual(JSON.parse(stored({ ...put, body }).body!), JSON.parse(JSON.stringify(body)))
      }),
    )
  })

  test('that was cut, grown or written by a later version is refused', () => {
    const bytes = encodeRequest({ ...put, body: { a: 1 } })
    for (let length = 0; length < bytes.length; length++) {
      assert.throws(
        () => decodeRequest(bytes.subarray(0, length)),
        { code: 'store_corrupt' },
        `cut at ${length}`,
      )
    }
    assert.throws(() => decodeRequest(Buffer.concat([bytes, Buffer.from(' ')])), { code: 'store_corrupt' })
    const inFormat = (format: string) =>
      decodeRequest(Buffer.from(Buffer.from(bytes).toString().replace('request/1', format)))
    assert.throws(() => inFormat('request/3'), { code: 'store_schema_newer' })
    assert.throws(() => inFormat('request/2'), { code: 'store_corrupt' }, 'the second has a reference')
    assert.throws(() => decodeRequest(Buffer.from('counterfoil-request/1\nnull\n')), {
      code: 'store_corrupt',
    })
  })
})

test('a body by reference is kept as the reference alone, and refused when it was cut or grown', () => {
  const bodyFrom = { store: 'files', key: 'scan é 7', length: 2 ** 40, sha256: 'a'.repeat(64) }
  const request = { ...put, bodyFrom: { ...bodyFrom, mediaType: 'image/png' } }
  const archive = { contract: {}, bodies: { files: { open: async function* () {} } } }
  const bytes = encodeRequest(request, archive)
  assert.deepEqual(bytes, encodeRequest(request, archive))
  const stored = decodeRequest(bytes)
  assert.deepEqual([stored.body, stored.bodyFrom], [null, bodyFrom])
  assert.equal(stored.headers['content-type'], 'image/png')
  for (let length = 0; length < bytes.length; length++)
    assert.throws(
      () => decodeRequest(bytes.subarray(0, length)),
      { code: 'store_corrupt' },
      `cut at ${length}`,
    )
  assert.throws(() => decodeRequest(Buffer.concat([bytes, Buffer.from(' ')])), { code: 'store_corrupt' })
  const first = Buffer.from(Buffer.from(bytes).toString().replace('request/2', 'request/1'))
  assert.throws(() => decodeRequest(first), { code: 'store_corrupt' })
})

describe('the body', () => {
  const cases: [string, EffectRequest, string | null, string | undefined][] = [
    ['absent', put, null, undefined],
    ['null, which is JSON', { ...put, body: null }, 'null', 'application/json'],
    ['text, which is JSON too', { ...put, body: 'a' }, '"a"', 'application/json'],
    [
      'text under another content type',
      { ...put, headers: { 'Content-Type': 'text/xml' }, body: '<a/>' },
      '<a/>',
      'text/xml',
    ],
    [
      'text under a JSON content type',
      { ...put, headers: { 'Content-Type': 'application/problem+json; charset=utf-8' }, body: 'a' },
      '"a"',
      'application/problem+json; charset=utf-8',
    ],
    [
      'a form',
      { ...put, body: new URLSearchParams({ a: '1 2', b: 'é' }) },
      'a=1+2&b=%C3%A9',
      'application/x-www-form-urlencoded',
    ],
    ['bytes', { ...put, body: Buffer.from('raw') }, 'raw', 'application/octet-stream'],
    [
      'an object with undefined members',
      { ...put, body: { a: undefined, b: 1 } },
      '{"b":1}',
      'application/json',
    ],
  ]
  for (const [name, request, body, type] of cases) {
    test(`may be ${name}`, () => {
      const got = stored(request)
      assert.equal(got.body, body)
      assert.equal(got.headers['content-type'], type)
    })
  }

  test('may not be what JSON cannot carry', () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    for (const body of [
      { a: Number.NaN },
      [Number.POSITIVE_INFINITY],
      1n,
      { a: 1n },
      circle,
      () => 1,
      Symbol('a'),
    ]) {
      refuses({ ...put, body }, 'effect_payload_invalid', /^The body of an effect holds /)
    }
  })

  test('may be as large as the limit and no larger', () => {
    assert.ok(encodeRequest({ ...put, body: Buffer.alloc(maxRequestBodyBytes) }))
    refuses(
      { ...put, body: Buffer.alloc(maxRequestBodyBytes + 1) },
      'effect_payload_invalid',
      /larger than 8388608 bytes/,
    )
  })
})

describe('method and headers', () => {
  for (const method of ['', 'HEAD', 'CONNECT', 'trace', 'GET /', 'P\nUT']) {
    test(`the method ${JSON.stringify(method)} is refused`, () =>
      refuses({ ...put, method }, 'config_invalid', /method/))
  }

  const written = [
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'Upgrade',
    'Expect',
    'Idempotency-Key',
    'x-request-key',
    'X-VERSION',
  ]
  for (const name of written) {
    test(`${name} is written by Counterfoil`, () =>
      refuses({ ...put, headers: { [name]: '1' } }, 'config_invalid', /is written by Counterfoil/))
  }

  const secret = [
    'Authorization',
    'proxy-authorization',
    'Cookie',
    'X-Api-Key',
    'apikey',
    'X-Auth-Token',
    'X-Amz-Security-Token',
    'X-Client-Secret',
  ]
  for (const name of secret) {
    test(`${name} is not stored`, () => {
      refuses(
        { ...put, headers: { [name]: 'hunter2' } },
        'config_invalid',
        /^(?!.*hunter2).*looks like a credential/,
      )
    })
  }

  test('a header is one line, and given once', () => {
    refuses({ ...put, headers: { 'x-a': 'b\r\nx-c: d' } }, 'config_invalid', /not a valid header/)
    refuses({ ...put, headers: { 'x a': 'b' } }, 'config_invalid', /not a valid header/)
    refuses({ ...put, headers: { 'x-a': '€' } }, 'config_invalid', /not a valid header/)
    refuses({ ...put, headers: { 'x-a': 1 as unknown as string } }, 'config_invalid', /not a valid header/)
    refuses({ ...put, headers: { 'x-a': '1', 'X-A': '2' } }, 'config_invalid', /given twice/)
    refuses(
      { ...put, headers: { 'x-a': 'b'.repeat(9_000) } },
      'config_invalid',
      /more than 64 headers or 8192 bytes/,
    )
  })
})

describe('the path', () => {
  const base = new URL('https://api.example:8443/v1/')
  const good: [string, string][] = [
    ['', 'https://api.example:8443/v1/'],
    ['/', 'https://api.example:8443/v1/'],
    ['/seats/42', 'https://api.example:8443/v1/seats/42'],
    ['/seats/a%2Fb?x=1&y=%20', 'https://api.example:8443/v1/seats/a%2Fb?x=1&y=%20'],
    ['/a//b', 'https://api.example:8443/v1/a//b'],
    ['/a..b/...', 'https://api.example:8443/v1/a..b/...'],
    ['?a=..&b=//c', 'https://api.example:8443/v1/?a=..&b=//c'],
    ['/@evil.example', 'https://api.example:8443/v1/@evil.example'],
  ]
  for (const [path, url] of good)
    test(`'${path}' is appended`, () => assert.equal(targetUrl(base, path).href, url))

  const bad = [
    ...[
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      'https://evil.example/',
      'javascript:alert(1)',
      'seats/42',
    ],
    ...[
      '/..',
      '/../admin',
      '/a/../../admin',
      '/a/..',
      '/./a',
      '/%2e%2e/admin',
      '/%2E./admin',
      '/a/..%2fadmin',
      '/a%5c..%5cadmin',
    ],
    ...['/a#b', '/a b', '/é', '/a\nb', '/a\u0000', '/%', '/%zz', '/a\\b', '/"', `/${'a'.repeat(4_096)}`],
    ...['@evil.example', ':80/', '.evil.example'],
  ]
  for (const path of bad) {
    test(`${JSON.stringify(path.slice(0, 30))} is refused, at planning already, with a hint`, () => {
      refuses({ method: 'PUT', path }, 'config_invalid', /^The path of a request /)
      assert.throws(
        () => targetUrl(base, path),
        (error: { hint?: string }) => error.hint !== undefined,
      )
    })
  }

  test('whatever is allowed stays below its recipient', () => {
    const piece = fc.constantFrom(
      '/',
      '.',
      '..',
      '%2e',
      '%2F',
      '%5C',
      '\\',
      '@',
      ':',
      '?',
      '#',
      'a',
      '//',
      'evil.example',
      'https:',
      ';',
      '[',
      ']',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        let url: URL
        try {
          url = targetUrl(base, pieces.join(''))
        } catch (error) {
          return (error as { code?: string }).code === 'config_invalid'
        }
        return url.origin === base.origin && /^\/v1(\/|$)/.test(url.pathname) && url.username === ''
      }),
      { numRuns: 5_000 },
    )
  })

  test('whoever gets a target may change it: the next one is as it was', () => {
    const base = new URL('https://h/x')
    targetUrl(base, '/a').searchParams.set('injected', '1')
    assert.equal(targetUrl(base, '/a').href, 'https://h/x/a')
    base.pathname = '/y'
    assert.equal(targetUrl(base, '/a').href, 'https://h/y/a')
  })

  test('a path that is refused is refused again, and more targets than are remembered are right', () => {
    const base = new URL('https://h/x')
    for (let time = 0; time < 2; time++) {
      assert.throws(() => targetUrl(base, '/../a'), { code: 'config_invalid' })
      for (let n = 0; n < 300; n++) assert.equal(targetUrl(base, `/${n}`).href, `https://h/x/${n}`)
    }
  })

  test("the url's own query stays, and a url with credentials is refused", () => {
    assert.equal(targetUrl(new URL('https://h/x?v=1'), '/a?b=2').href, 'https://h/x/a?v=1&b=2')
    assert.equal(targetUrl(new URL('https://h/x?v=1'), '').href, 'https://h/x?v=1')
    assert.throws(() => targetUrl(new URL('https://u:hunter2@h/'), '/a'), {
      code: 'config_invalid',
      message: /^(?!.*hunter2)/,
    })
  })
})
