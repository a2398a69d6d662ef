import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  type CounterfoilError,
  counterfoil,
  type ErrorCode,
  type Producer,
  producer,
  type Store,
  trigger,
} from 'counterfoil'
import { cloudEvents } from 'counterfoil/cloudevents'
import { github, standardWebhooks, stripe } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { faultyStore, type StoreFault, VirtualClock } from 'counterfoil/testing'
import fc from 'fast-check'
import {
  gitHubRequest,
  gitHubSecret,
  standardHeaders,
  standardRequest,
  standardSecret,
  stripeHeaders,
  stripeRequest,
  stripeSecret,
} from '../packages/counterfoil/src/intake/fixtures/senders.ts'

/**
 * Failures that people who receive webhooks have reported in public, each as a test of its whole kind: the
 * configured program, on its real store.
 */

const now = 1_767_225_600
const day = 86_400
const token = 'a-token-that-only-tests-know'

interface Told {
  readonly status: number
  readonly outcome?: string
  readonly receipt?: string
  readonly reason?: string
  readonly code?: string
  readonly sameContentAs?: string
  readonly events?: readonly Told[]
}

interface World {
  readonly store: Store
  /** To the producers `standard`, `github`, `stripe/acct_1` and `events`. */
  readonly send: (request: Request) => Promise<Told>
  /** Moves the receiver's clock to this unix second. */
  readonly at: (seconds: number) => void
}

async function world(
  run: (made: World) => Promise<void>,
  about: { readonly fault?: StoreFault; readonly lossless?: boolean; readonly maxBytes?: number } = {},
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-cases-'))
  const store = sqlite(join(directory, 'counterfoil.db'))
  const clock = new VirtualClock(now * 1000)
  const options = {
    ...(about.lossless === true ? { numbers: 'lossless' as const } : {}),
    ...(about.maxBytes === undefined ? {} : { maxBytes: about.maxBytes }),
  }
  const producers: Producer[] = [
    producer('standard', standardWebhooks({ secrets: standardSecret }), options),
    producer('github', github({ secrets: gitHubSecret }), options),
    producer('stripe/acct_1', stripe({ secrets: stripeSecret }), options),
    producer('events', cloudEvents({ tokens: token }), options),
  ]
  const app = counterfoil({
    store: faultyStore(store, about.fault ?? null),
    recipients: [],
    triggers: [
      trigger('sees what was paid', {
        on: producers.map((one) => one.event(one.name === 'github' ? 'push' : 'paid')),
        plan: () => {},
      }),
    ],
    clock,
    log: () => {},
  })
  await app.start({ work: false })
  try {
    await run({
      store,
      send: async (request) => {
        const response = await app.receive(request)
        return { status: response.status, ...((await response.json()) as object) }
      },
      at: (seconds) => clock.jump(seconds * 1000 - clock.now()),
    })
  } finally {
    await app.stop()
    rmSync(directory, { recursive: true })
  }
}

const paid = (more: object = {}) => JSON.stringify({ type: 'paid', data: { id: 'in_1' }, ...more })
const event = (id: string, more: object = {}) => ({
  specversion: '1.0',
  source: '/s',
  type: 'paid',
  id,
  ...more,
})

function cloudRequest(contentType: string, body: string | Uint8Array<ArrayBuffer>): Request {
  const headers = { authorization: `Bearer ${token}`, 'content-type': contentType }
  return new Request('http://receiver.test/in/events', { method: 'POST', headers, body })
}
const batch = (...events: readonly object[]) =>
  cloudRequest('application/cloudevents-batch+json', JSON.stringify(events))
const single = (body: string | Uint8Array<ArrayBuffer>) => cloudRequest('application/cloudevents+json', body)

async function kept({ store }: World) {
  const { receipts, outbox, quarantine } = await store.status()
  return { receipts: receipts.total, duplicates: receipts.duplicates, waiting: outbox.waiting, quarantine }
}

describe('C04: receipt and work are one step, for one event and for many', () => {
  const faults = (['accept', 'acceptAll'] as const).flatMap((call) =>
    [true, false].map((committed) => ({ call, committed })),
  )
  for (const { call, committed } of faults) {
    test(`${call}: nobody knows whether it committed (it ${committed ? 'did' : 'did not'}); sent again, each event has one receipt and one record`, () =>
      world(
        async (made) => {
          const events = call === 'accept' ? 1 : 2
          const send = () =>
            made.send(events === 1 ? single(JSON.stringify(event('a'))) : batch(event('a'), event('b')))
          const first = await send()
          assert.deepEqual([first.status, first.code], [503, 'commit_unknown'])
          assert.equal((await send()).status, committed ? 200 : 202)
          const duplicates = committed ? events : 0
          assert.deepEqual(await kept(made), { receipts: events, duplicates, waiting: events, quarantine: 0 })
        },
        { fault: { kind: 'commit-unknown', call, committed } },
      ))
  }
})

test('C05: types that nobody handles are answered with 2xx for ever, and are one receipt and one alert each', () =>
  world(async (made) => {
    const unknown = { type: 'who.knows' }
    for (let index = 0; index < 30; index++) {
      const told = await Promise.all([
        made.send(standardRequest('m1', now, paid(unknown))),
        made.send(gitHubRequest('g1', 'star', '{}')),
        made.send(stripeRequest(now, JSON.stringify({ id: 'evt_1', ...unknown }))),
        made.send(batch(event('a', unknown), event('b', unknown))),
      ])
      for (const { status } of told) assert.equal(status, 202)
    }
    assert.deepEqual(await kept(made), { receipts: 5, duplicates: 145, waiting: 5, quarantine: 5 })
  }))

test('C12, C13: a redelivery or a resend by hand after days, signed anew, is a duplicate for as long as receipts are kept', () =>
  world(async (made) => {
    const sent = (at: number) => [
      standardRequest('m1', at, paid()),
      stripeRequest(at, JSON.stringify({ id: 'evt_1', type: 'paid', pending_webhooks: at % 7 })),
      gitHubRequest('g1', 'push', '{"a":1}'),
      single(JSON.stringify(event('a'))),
    ]
    for (const request of sent(now)) assert.equal((await made.send(request)).outcome, 'accepted')
    const later = [60, 3_600, day, 3 * day, 20 * day, 35 * day]
    for (const seconds of later) {
      made.at(now + seconds)
      for (const request of sent(now + seconds)) {
        const { status, outcome } = await made.send(request)
        assert.deepEqual([status, outcome], [200, 'duplicate'])
      }
    }
    assert.deepEqual(await kept(made), {
      receipts: 4,
      duplicates: 4 * later.length,
      waiting: 4,
      quarantine: 0,
    })
  }))

test('C14: the same JSON in another spelling does not verify, whatever the spelling', () =>
  world(async (made) => {
    await fc.assert(
      fc.asyncProperty(
        fc.json(),
        fc.constantFrom('', ' ', '\n', '\t'),
        fc.nat(4),
        async (data, blank, indent) => {
          const body = `{"type":"paid","data":${data}${blank}}`
          const spelled = JSON.stringify(JSON.parse(body), null, indent)
          fc.pre(spelled !== body)
          const headers = [
            ['standard', standardHeaders('m1', now, body)],
            ['stripe/acct_1', stripeHeaders(now, body)],
          ] as const
          for (const [path, signed] of headers) {
            const url = `http://receiver.test/in/${path}`
            const { status } = await made.send(
              new Request(url, { method: 'POST', headers: signed, body: spelled }),
            )
            assert.equal(status, 401)
          }
        },
      ),
    )
    assert.equal((await kept(made)).receipts, 0)
  }))

test('C15: marks, line ends, encodings and lone surrogates are verified as bytes, answered by rule and never altered', () =>
  world(async (made) => {
    const text = paid()
    const cases: readonly [string, string | Uint8Array<ArrayBuffer>, number, string][] = [
      ['trailing newline', `${text}\n`, 202, 'accepted'],
      ['CRLF between', text.replaceAll(',', ',\r\n'), 202, 'accepted'],
      ['blanks around', ` \t${text}\r\n `, 202, 'accepted'],
      ['byte order mark', `\ufeff${text}`, 400, 'syntax_invalid'],
      ['UTF-16', new Uint8Array(Buffer.from(text, 'utf16le')), 400, 'syntax_invalid'],
      ['Latin-1', new Uint8Array(Buffer.from(paid({ name: 'é' }), 'latin1')), 400, 'syntax_invalid'],
      ['overlong', new Uint8Array(Buffer.from('{"a":"\xc0\xa0"}', 'latin1')), 400, 'syntax_invalid'],
      ['lone surrogate', paid().replace('in_1', '\\ud800'), 202, 'not-representable'],
      ['vertical tab', `\u000b${text}`, 400, 'syntax_invalid'],
    ]
    for (const [what, body, status, told] of cases) {
      const sent = await made.send(standardRequest(what, now, body))
      assert.deepEqual([sent.status, sent.reason ?? sent.code ?? sent.outcome], [status, told], what)
      if (sent.receipt === undefined) continue
      const story = await made.store.showReceipt(sent.receipt)
      assert.equal(story?.receipt.bytes, Buffer.byteLength(body), what)
    }
  }))

test('C16: of several secrets and several signatures any may be the one that fits, in any place', () =>
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), fc.nat(7), (others, place) => {
      const at = place % (others.length + 1)
      const among = <Value>(wrong: Value, right: Value) => others.map(() => wrong).toSpliced(at, 0, right)
      const wrongKey = Buffer.from('another key that signed nothing.')
      const good = standardHeaders('m1', now, paid())
      const bad = standardHeaders('m1', now, paid(), wrongKey)['webhook-signature']
      const delivery = (signature: string) => ({
        method: 'POST',
        url: 'http://h.test/in/p',
        header: (name: string) => ({ ...good, 'webhook-signature': signature })[name as 'webhook-id'] ?? null,
        headers: () => [],
        query: () => null,
        body: Buffer.from(paid()),
      })
      const secrets = among(`whsec_${wrongKey.toString('base64')}`, standardSecret)
      const verify = (signature: string) =>
        standardWebhooks({ secrets }).verify(delivery(signature), now * 1000).kind
      assert.equal(verify(good['webhook-signature']), 'verified')
      assert.equal(verify(among(bad.replace('v1,', 'v1,A'), good['webhook-signature']).join(' ')), 'verified')
      assert.equal(verify(others.map(() => 'v1,AAAA').join(' ')), 'refused')
    }),
  ))

test('C17: a clock that is off counts the same in both directions, and to the second', () =>
  world(async (made) => {
    let sent = 0
    for (const skew of [0, 1, 240, 299, 300, 301, 302, 600, 3_600, day, 30 * day]) {
      for (const at of [now - skew, now + skew]) {
        const status = skew <= 300 ? 202 : 401
        assert.equal(
          (await made.send(standardRequest(`m${++sent}`, at, paid()))).status,
          status,
          String(at - now),
        )
        const body = JSON.stringify({ id: `evt_${sent}`, type: 'paid' })
        assert.equal((await made.send(stripeRequest(at, body))).status, status, String(at - now))
      }
    }
  }))

test('C18: one body under another id is told as the same content, wherever the id is not signed', () =>
  world(async (made) => {
    const binary = (id: string) => {
      const request = cloudRequest('application/json', '{"a":1}')
      for (const [name, value] of Object.entries({ specversion: '1.0', id, source: '/s', type: 'paid' })) {
        request.headers.set(`ce-${name}`, value)
      }
      return request
    }
    const firstPush = await made.send(gitHubRequest('g0', 'push', '{"a":1}'))
    for (let index = 1; index < 10; index++) {
      const { outcome, sameContentAs } = await made.send(gitHubRequest(`g${index}`, 'push', '{"a":1}'))
      assert.deepEqual([outcome, sameContentAs], ['accepted', firstPush.receipt])
    }
    // Another type under the same body is no new content either.
    assert.equal((await made.send(gitHubRequest('g99', 'star', '{"a":1}'))).outcome, 'quarantined')
    // CloudEvents hold their id in what is compared, so another id is other content by itself.
    assert.equal((await made.send(binary('a'))).sameContentAs, undefined)
    assert.equal((await made.send(binary('b'))).outcome, 'accepted')
  }))

test('C19: NUL, wherever it is, is stored and comes again as a duplicate', () =>
  world(async (made) => {
    let sent = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: fc.constantFrom('\u0000', 'a', '\u0001', '\u001f', 'é') }), {
          minLength: 1,
        }),
        async (texts) => {
          const id = `m${++sent}`
          const body = JSON.stringify({
            type: 'paid',
            data: Object.fromEntries(texts.map((one) => [`k${one}`, one])),
          })
          assert.equal((await made.send(standardRequest(id, now, body))).status, 202)
          assert.equal((await made.send(standardRequest(id, now, body))).outcome, 'duplicate')
        },
      ),
      { numRuns: 30 },
    )
  }))

test('C20: numbers that a double cannot hold never collapse: quarantined, or kept whole where that is declared', async () => {
  const large = fc
    .bigInt({ min: 2n ** 53n + 1n, max: 2n ** 70n })
    .filter((one) => BigInt(Number(one)) !== one)
  const body = (one: bigint) => `{"type":"paid","data":{"id":${one}}}`
  for (const lossless of [false, true]) {
    await world(
      async (made) => {
        let sent = 0
        await fc.assert(
          fc.asyncProperty(large, async (one) => {
            const id = `m${++sent}`
            const first = await made.send(standardRequest(id, now, body(one)))
            const other = await made.send(standardRequest(id, now, body(one + 1n)))
            assert.equal(first.reason ?? first.outcome, lossless ? 'accepted' : 'not-representable')
            assert.equal(other.outcome, 'conflict')
          }),
          { numRuns: 20 },
        )
      },
      { lossless },
    )
  }
})

test('C21: whatever is sent has its stated answer: repeated names, __proto__, depth, length, bombs', () =>
  world(
    async (made) => {
      const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
      const bodies: readonly [string, string, number, string][] = [
        ['twice', '{"type":"paid","type":"paid"}', 202, 'not-representable'],
        ['escaped twice', '{"type":"paid","a":1,"\\u0061":2}', 202, 'not-representable'],
        ['proto', '{"type":"paid","__proto__":{"admin":true},"constructor":1}', 202, 'accepted'],
        ['deep', `{"type":"paid","data":${deep(10_000)}}`, 202, 'not-representable'],
        ['unclosed', '['.repeat(50_000), 400, 'syntax_invalid'],
        ['long', `{"type":"paid","data":"${'x'.repeat(1_000_000)}"}`, 413, 'body_too_large'],
        ['many', `{"type":"paid","data":[${'0,'.repeat(100_000)}0]}`, 202, 'accepted'],
      ]
      for (const [id, body, status, told] of bodies) {
        const sent = await made.send(standardRequest(id, now, body))
        assert.deepEqual([sent.status, sent.reason ?? sent.code ?? sent.outcome], [status, told], id)
        const form = `payload=${encodeURIComponent(body)}`
        const headers = { 'content-type': 'application/x-www-form-urlencoded' }
        const formed = await made.send(gitHubRequest(id, 'push', form, { headers }))
        assert.deepEqual(
          [formed.status, formed.reason ?? formed.code ?? formed.outcome],
          [status, told],
          `${id}, form`,
        )
      }
      for (const bytes of [1_000_000, 50_000_000]) {
        const bomb = new Uint8Array(gzipSync(Buffer.alloc(bytes)))
        const headers = { 'content-encoding': 'gzip' }
        const { status } = await made.send(standardRequest('bomb', now, paid(), { headers, instead: bomb }))
        assert.equal(status, 413)
      }
      assert.equal(({} as { admin?: boolean }).admin, undefined)
    },
    { maxBytes: 500_000 },
  ))

test('C28: copies that race, alone and in batches, are one receipt each', () =>
  world(async (made) => {
    const told = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        made.send(index % 2 === 0 ? batch(event('a'), event('b')) : single(JSON.stringify(event('a')))),
      ),
    )
    const outcomes = told.flatMap(({ outcome, events }) => events?.map((one) => one.outcome) ?? [outcome])
    assert.equal(outcomes.filter((outcome) => outcome === 'accepted').length, 2)
    assert.equal(outcomes.filter((outcome) => outcome === 'duplicate').length, 94)
    assert.deepEqual(await kept(made), { receipts: 2, duplicates: 94, waiting: 2, quarantine: 0 })
  }))

test('C34: whatever the store cannot do is 503 with Retry-After, never a 4xx, and nothing is acknowledged', async () => {
  const codes: readonly ErrorCode[] = [
    'store_full',
    'store_read_only',
    'store_busy',
    'store_corrupt',
    'store_unavailable',
  ]
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-cases-'))
  const real = sqlite(join(directory, 'counterfoil.db'))
  let fails: ErrorCode | null = null
  const fail = () => {
    throw Object.assign(new Error('the disk'), { code: fails }) as CounterfoilError
  }
  const store = new Proxy(real, {
    get(target, name: keyof Store) {
      if (fails !== null && (name === 'accept' || name === 'acceptAll')) return async () => fail()
      const member = target[name]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const events = producer('events', cloudEvents({ tokens: token }))
  const app = counterfoil({ store, recipients: [], triggers: [], producers: [events], log: () => {} })
  await app.start({ work: false })
  try {
    for (const code of codes) {
      fails = code
      for (const request of [single(JSON.stringify(event('a'))), batch(event('a'), event('b'))]) {
        const response = await app.receive(request)
        assert.equal(response.status, 503)
        assert.match(response.headers.get('retry-after') ?? '', /^\d+$/)
        assert.equal(((await response.json()) as Told).code, code)
      }
    }
    assert.equal((await real.status()).receipts.total, 0)
    fails = null
    assert.equal((await app.receive(batch(event('a'), event('b')))).status, 202)
    assert.equal((await real.status()).receipts.total, 2)
  } finally {
    await app.stop()
    rmSync(directory, { recursive: true })
  }
})
