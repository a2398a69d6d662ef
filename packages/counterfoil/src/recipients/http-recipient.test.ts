import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Contract, Exchange, IdempotencyKey } from '../domain/index.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { answer, type RawServer, rawServer } from './fixtures/raw-server.ts'
import {
  attempt,
  decodeRequest,
  encodeRequest,
  type HttpRecipient,
  lookup,
  maxAnswerBytes,
} from './http-recipient.ts'
import type { Network, NetworkRequest } from './network.ts'
import { undiciNetwork } from './undici-network.ts'

const never = new AbortController().signal
const clock = new VirtualClock()
const question = (key: string) => ({ key: key as IdempotencyKey, correlation: null })
const key = 'cf_abc/1' as IdempotencyKey
const contract: Contract = {
  idempotency: {
    header: 'Idempotency-Key',
    remembersFor: '24h',
    otherPayload: 'refused',
    replays: 'first-success',
  },
  lookup: { by: 'key', path: '/operations/{key}?same={key}', absence: { final: false } },
  ordering: { fence: { header: 'Fence-Version', rejectedWith: 412 } },
}
const openSeat = decodeRequest(
  encodeRequest({ method: 'PUT', path: '/seats/42', headers: { 'X-Tenant': 't1' }, body: { plan: 'pro' } }),
)

function recipientAt(url: URL, about: Partial<HttpRecipient> = {}): HttpRecipient {
  return {
    name: 'provisioning',
    url,
    contract,
    timeoutMs: 60_000,
    allowPrivateAddresses: true,
    concurrency: 16,
    ...about,
  }
}

async function setUp(t: TestContext): Promise<{ network: Network; server: RawServer }> {
  const network = undiciNetwork()
  t.after(() => network.close())
  return {
    network,
    server: await rawServer(t, { onRequest: (socket) => void socket.write(answer(200, '{}')) }),
  }
}

function headersOf(server: RawServer, number = 0): Record<string, string> {
  const lines = server.seen[number]!.head.split('\r\n').slice(1, -1)
  return Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]))
}

/** A network that keeps what it was asked. */
function recorder(): { network: Network; asked: NetworkRequest[] } {
  const asked: NetworkRequest[] = []
  const exchange: Exchange = { kind: 'answered', status: 200, headers: {}, body: new Uint8Array() }
  return {
    asked,
    network: {
      async send(request) {
        asked.push(request)
        return exchange
      },
      async close() {},
    },
  }
}

function whyOf(exchange: Exchange): string {
  assert.equal(exchange.kind, 'notSent')
  return exchange.kind === 'notSent' ? exchange.why : ''
}

describe('an attempt', () => {
  test('sends the stored bytes under the key, with version and credentials', async (t) => {
    const { network, server } = await setUp(t)
    const recipient = recipientAt(server.url('/v1'), { headers: () => ({ Authorization: 'Bearer hunter2' }) })
    const exchange = await attempt(
      { network, clock },
      recipient,
      openSeat,
      key,
      { domain: 'customer/7', version: 12 },
      never,
    )
    assert.equal(exchange.kind, 'answered')
    assert.match(server.seen[0]!.head, /^PUT \/v1\/seats\/42 HTTP\/1\.1\r\n/)
    assert.equal(server.seen[0]!.body.toString(), '{"plan":"pro"}')
    assert.deepEqual(headersOf(server), {
      host: `127.0.0.1:${server.port}`,
      connection: 'keep-alive',
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'counterfoil',
      authorization: 'Bearer hunter2',
      'content-type': 'application/json',
      'x-tenant': 't1',
      'idempotency-key': key,
      'fence-version': '12',
      'content-length': '14',
    })
  })

  test('tells the domain and the times where the contract names headers for them, and nowhere else', async () => {
    const { network, asked } = recorder()
    const wants: Contract = {
      ...contract,
      ordering: { fence: { header: 'Fence-Version', domain: 'Fence-Domain', rejectedWith: 412 } },
      times: { plannedAt: 'Effect-Planned-At', begunAt: 'Attempt-Begun-At' },
    }
    const times = { plannedAt: Date.UTC(2026, 0, 1), begunAt: Date.UTC(2026, 0, 1, 0, 0, 1, 5) }
    for (const [told, domain] of [
      [wants, 'customer/7'],
      [wants, 'Kunde 100% \u{1f600}'],
      [contract, 'customer/7'],
    ] as const) {
      const recipient = recipientAt(new URL('https://api.example'), { contract: told })
      await attempt({ network, clock }, recipient, openSeat, key, { domain, version: 12 }, never, times)
    }
    const [plain, encoded, untold] = asked.map(({ headers }) => headers)
    assert.equal(plain?.['effect-planned-at'], '2026-01-01T00:00:00.000Z')
    assert.equal(plain?.['attempt-begun-at'], '2026-01-01T00:00:01.005Z')
    assert.equal(plain?.['fence-domain'], 'customer/7')
    assert.equal(encoded?.['fence-domain'], 'Kunde%20100%25%20%F0%9F%98%80')
    const names = Object.keys(untold ?? {})
    assert.deepEqual(
      names.filter((name) => /domain|-at$/.test(name)),
      [],
    )
  })

  test('is byte for byte the same each time', async (t) => {
    const { network, server } = await setUp(t)
    const recipient = recipientAt(server.url('/v1'))
    for (let i = 0; i < 3; i++) await attempt({ network, clock }, recipient, openSeat, key, null, never)
    assert.deepEqual(server.seen[1], server.seen[0])
    assert.deepEqual(server.seen[2], server.seen[0])
  })

  test('without order has no version, and without idempotency no key', async () => {
    const { network, asked } = recorder()
    const url = new URL('https://api.example')
    await attempt({ network, clock }, recipientAt(url), openSeat, key, null, never)
    await attempt({ network, clock }, recipientAt(url, { contract: {} }), openSeat, key, null, never)
    assert.equal('fence-version' in asked[0]!.headers, false)
    assert.equal(asked[0]!.headers['idempotency-key'], key)
    assert.equal('idempotency-key' in asked[1]!.headers, false)
  })

  test('carries large versions whole', async () => {
    const { network, asked } = recorder()
    for (const version of [12, 2n ** 63n, '2026-01']) {
      await attempt(
        { network, clock },
        recipientAt(new URL('https://api.example')),
        openSeat,
        key,
        { domain: 'd', version },
        never,
      )
    }
    assert.deepEqual(
      asked.map(({ headers }) => headers['fence-version']),
      ['12', '9223372036854775808', '2026-01'],
    )
  })

  test("hands on the recipient's limits", async () => {
    const { network, asked } = recorder()
    await attempt(
      { network, clock },
      recipientAt(new URL('https://api.example'), { timeoutMs: 5, allowPrivateAddresses: false }),
      openSeat,
      key,
      null,
      never,
    )
    const { timeoutMs, allowPrivateAddresses, maxAnswerBytes: most } = asked[0]!
    assert.deepEqual(
      { timeoutMs, allowPrivateAddresses, most },
      { timeoutMs: 5, allowPrivateAddresses: false, most: maxAnswerBytes },
    )
  })

  test('asks for credentials once at each call; they change neither key nor content type', async () => {
    const { network, asked } = recorder()
    let calls = 0
    const headers = () => ({
      'X-Call': String(++calls),
      'IDEMPOTENCY-KEY': 'other',
      'content-type': 'text/plain',
    })
    const recipient = recipientAt(new URL('https://api.example'), { headers })
    await attempt({ network, clock }, recipient, openSeat, key, null, never)
    await attempt({ network, clock }, recipient, openSeat, key, null, never)
    assert.deepEqual(
      asked.map((request) => request.headers['x-call']),
      ['1', '2'],
    )
    assert.equal(asked[0]!.headers['idempotency-key'], key)
    assert.equal(asked[0]!.headers['content-type'], 'application/json')
  })
})

describe('an attempt is not sent, and tells no secret', () => {
  const faulty: Record<string, [NonNullable<HttpRecipient['headers']>, RegExp]> = {
    'when the headers function throws': [
      () => {
        throw new TypeError('hunter2 has expired')
      },
      /headers function of recipient 'provisioning' threw TypeError/,
    ],
    'when its promise is broken': [
      async () => {
        throw new TypeError('hunter2 has expired')
      },
      /threw TypeError/,
    ],
    'when it gives no object': [(() => null) as never, /gave no object of headers/],
    'when a value is not one line': [
      () => ({ authorization: 'hunter2\n' }),
      /gave a header that is not valid: 'authorization'/,
    ],
    'when a value is missing': [
      () => ({ authorization: undefined as unknown as string }),
      /not valid: 'authorization'/,
    ],
    'when it frames the message': [
      () => ({ Host: 'hunter2.example' }),
      /gave 'Host', which frames the message/,
    ],
  }
  for (const [name, [headers, expected]] of Object.entries(faulty)) {
    test(name, async () => {
      const { network, asked } = recorder()
      const why = whyOf(
        await attempt(
          { network, clock },
          recipientAt(new URL('https://api.example'), { headers }),
          openSeat,
          key,
          null,
          never,
        ),
      )
      assert.match(why, /^config_invalid: /)
      assert.match(why, expected)
      assert.doesNotMatch(why, /hunter2/)
      assert.equal(asked.length, 0)
    })
  }

  test('when it claims order and the recipient no longer compares versions', async () => {
    const { network, asked } = recorder()
    const recipient = recipientAt(new URL('https://api.example'), {
      contract: { idempotency: contract.idempotency! },
    })
    const why = whyOf(
      await attempt({ network, clock }, recipient, openSeat, key, { domain: 'd', version: 1 }, never),
    )
    assert.match(why, /^order_without_fence: /)
    assert.equal(asked.length, 0)
  })

  test('when its recipient cannot be reached, with url and headers full of secrets', async (t) => {
    const network = undiciNetwork()
    t.after(() => network.close())
    const url = new URL('http://127.0.0.1:1/hunter2?key=hunter2')
    const recipient = recipientAt(url, { headers: () => ({ authorization: 'hunter2' }) })
    const why = whyOf(await attempt({ network, clock }, recipient, openSeat, key, null, never))
    assert.doesNotMatch(why, /hunter2/)
  })
})

describe('a lookup', () => {
  test('asks with GET for the encoded key, with credentials and without the key header', async (t) => {
    const { network, server } = await setUp(t)
    const recipient = recipientAt(server.url('/v1'), { headers: () => ({ authorization: 'Bearer hunter2' }) })
    assert.equal((await lookup({ network, clock }, recipient, question(key), never)).kind, 'answered')
    assert.match(server.seen[0]!.head, /^GET \/v1\/operations\/cf_abc%2F1\?same=cf_abc%2F1 HTTP\/1\.1\r\n/)
    const headers = headersOf(server)
    assert.equal(headers.authorization, 'Bearer hunter2')
    assert.equal('idempotency-key' in headers, false)
    assert.equal('content-type' in headers, false)
  })

  test('of a key with a dollar sign asks for that key', async () => {
    const { network, asked } = recorder()
    await lookup({ network, clock }, recipientAt(new URL('https://api.example')), question("$&$'"), never)
    assert.match(asked[0]!.url.pathname, /^\/operations\/%24%26%24'$/)
  })

  test('that leads elsewhere is not sent', async () => {
    const { network, asked } = recorder()
    const elsewhere: Contract = {
      ...contract,
      lookup: { by: 'key', path: '//evil.example/{key}', absence: { final: false } },
    }
    const why = whyOf(
      await lookup(
        { network, clock },
        recipientAt(new URL('https://api.example'), { contract: elsewhere }),
        question(key),
        never,
      ),
    )
    assert.match(why, /^config_invalid: /)
    assert.equal(asked.length, 0)
  })

  test('of a recipient that offers none is a fault of the caller', async () => {
    const { network } = recorder()
    await assert.rejects(
      lookup(
        { network, clock },
        recipientAt(new URL('https://api.example'), { contract: {} }),
        question(key),
        never,
      ),
      { code: 'internal' },
    )
  })
})

test('a recipient that takes effects in turn is told no version: the order in which it is called is the order', async () => {
  const { network, asked } = recorder()
  const recipient = recipientAt(new URL('https://queue.example'), {
    contract: { ordering: { inTurn: true } },
  })
  const order = { domain: 'ann', version: 4 }
  await attempt({ network, clock }, recipient, openSeat, key, order, never)
  assert.equal(asked.length, 1)
  assert.ok(!JSON.stringify(asked[0]?.headers).includes('ann'))
})
