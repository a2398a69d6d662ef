import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { CounterfoilError, type ErrorCode, type WorkerId } from '../domain/index.ts'
import type { Accepted } from '../store/index.ts'
import {
  acceptAll,
  hub,
  now,
  payments,
  problemOf,
  standard,
  testIntake,
  vault,
  vaultKey,
} from './fixtures/intake.ts'
import {
  deliveryOf,
  endless,
  gitHubRequest,
  gitHubSecret,
  standardHeaders,
  standardKey,
  standardRequest,
  standardSecret,
  streamedRequest,
  stripeRequest,
  stripeSecret,
} from './fixtures/senders.ts'
import { producer } from './producer.ts'
import { standardWebhooks } from './producers/index.ts'
import type { HandOff } from './take.ts'

const paid = JSON.stringify({ type: 'invoice.paid', timestamp: '2026-01-01T00:00:00Z', data: { id: 'in_1' } })

/** A hand-off that counts its places. */
function countingHandOff(room = 1_000) {
  const delivered: Parameters<HandOff['deliver']>[0][] = []
  let reserved = 0
  const handOff: HandOff = {
    reserve() {
      if (reserved >= room) return null
      reserved++
      return { worker: 'wrk_1' as WorkerId, leaseMs: 5_000 }
    },
    deliver(work) {
      reserved--
      delivered.push(work)
    },
    release() {
      reserved--
    },
  }
  return { handOff, delivered, reserved: () => reserved }
}

describe('a good delivery', () => {
  test('becomes a receipt with its evidence, and is acknowledged', async () => {
    const { receive, entries, counters } = testIntake(acceptAll)
    const response = await receive(standardRequest('msg_1', now, paid))
    assert.equal(response.status, 202)
    assert.equal(response.headers.get('content-type'), 'application/json')
    const [entry] = entries
    assert.deepEqual(await response.json(), { receipt: entry!.receipt.id, outcome: 'accepted' })
    const { id, delivery, fingerprint, rawFingerprint, ...rest } = entry!.receipt
    assert.match(id, /^rcp_[0-9A-Z]{26}$/)
    assert.match(delivery, /^del-sha256:[0-9a-f]{64}$/)
    assert.match(fingerprint, /^jcs-sha256:[0-9a-f]{64}$/)
    assert.match(rawFingerprint, /^raw-sha256:[0-9a-f]{64}$/)
    assert.deepEqual(rest, {
      producer: 'standard',
      namespace: 'standard',
      source: 'standard-webhooks',
      eventId: 'msg_1',
      type: 'invoice.paid',
      schemaVersion: null,
      contentType: 'application/json',
      bytes: Buffer.byteLength(paid),
      provenance: 'signed',
      origin: 'live',
      waived: null,
      eventAt: now * 1000,
      receivedAt: now * 1000,
      trace: null,
    })
    assert.deepEqual(entry!.next, { kind: 'plan', handOff: null })
    assert.equal(entry!.onConflict.owner, 'owner of standard')
    assert.equal(Buffer.from(vault.open(entry!.payload, id)).toString(), paid)
    assert.deepEqual([...counters], [['standard accepted', 1]])
  })

  test('from each producer, at a route with slashes too', async () => {
    const { receive, entries } = testIntake(acceptAll)
    const event = JSON.stringify({
      id: 'evt_1',
      type: 'invoice.paid',
      api_version: '2025',
      account: 'acct_1',
      created: 5,
      data: { object: {} },
    })
    assert.equal((await receive(stripeRequest(now, event))).status, 202)
    assert.equal((await receive(gitHubRequest('guid-1', 'push', '{}'))).status, 202)
    const form = `payload=${encodeURIComponent('{"a":1}')}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    assert.equal((await receive(gitHubRequest('guid-2', 'push', form, { headers }))).status, 202)
    assert.deepEqual(
      entries.map(({ receipt: r }) => [
        r.producer,
        r.source,
        r.eventId,
        r.type,
        r.schemaVersion,
        r.provenance,
      ]),
      [
        ['stripe/acct_1', 'acct_1', 'evt_1', 'invoice.paid', '2025', 'signed'],
        ['github', 'github', 'guid-1', 'push', null, 'unsigned'],
        ['github', 'github', 'guid-2', 'push', null, 'unsigned'],
      ],
    )
  })

  test('is answered as the store found it', async () => {
    const ids = { receipt: 'rcp_A', quarantine: 'qua_A', first: 'rcp_0' }
    const cases: [object, number, object][] = [
      [{ outcome: 'accepted', outbox: 1, sameContentAs: null }, 202, { outcome: 'accepted' }],
      [
        { outcome: 'accepted', outbox: 1, sameContentAs: 'rcp_0' },
        202,
        { outcome: 'accepted', sameContentAs: 'rcp_0' },
      ],
      [{ outcome: 'duplicate' }, 200, { outcome: 'duplicate' }],
      [
        { outcome: 'quarantined', quarantine: ids.quarantine, reason: 'unsupported-type', repeated: true },
        202,
        { outcome: 'quarantined', quarantine: ids.quarantine, reason: 'unsupported-type' },
      ],
      [
        { outcome: 'conflict', quarantine: ids.quarantine, first: ids.first, repeated: false },
        202,
        { outcome: 'conflict', quarantine: ids.quarantine, reason: 'identity-conflict', first: ids.first },
      ],
    ]
    for (const [found, status, told] of cases) {
      const { receive } = testIntake(async () => ({ receipt: ids.receipt, ...found }) as Accepted)
      const response = await receive(standardRequest('msg_1', now, paid))
      assert.equal(response.status, status)
      assert.deepEqual(await response.json(), { receipt: ids.receipt, ...told })
    }
  })

  test('is never answered before its commit fulfilled', async () => {
    let commit = () => {}
    const committed = new Promise<void>((resolve) => {
      commit = resolve
    })
    const { receive } = testIntake(async (entry) => {
      await committed
      return await acceptAll(entry)
    })
    let answered = false
    const response = receive(standardRequest('msg_1', now, paid)).finally(() => {
      answered = true
    })
    await wait(20)
    assert.equal(answered, false)
    commit()
    assert.equal((await response).status, 202)
  })

  test('is handed on with its data after the commit, under the lease that was written', async () => {
    const { handOff, delivered, reserved } = countingHandOff()
    const types = [
      standard.event('invoice.paid', {
        schema: z.object({ id: z.string(), plan: z.string().default('pro') }),
      }),
    ]
    const { receive, entries } = testIntake(
      async (entry) => {
        assert.equal(delivered.length, 0)
        return await acceptAll(entry)
      },
      { handOff, types },
    )
    await receive(standardRequest('msg_1', now, paid))
    assert.deepEqual(entries[0]?.next, { kind: 'plan', handOff: { worker: 'wrk_1', leaseMs: 5_000 } })
    assert.equal(delivered.length, 1)
    assert.equal(delivered[0]!.outbox, 7)
    const { event } = delivered[0]!
    assert.deepEqual(event.data, { id: 'in_1', plan: 'pro' })
    assert.deepEqual(
      [event.receipt, event.id, event.producer, event.origin],
      [entries[0]!.receipt.id, 'msg_1', 'standard', 'live'],
    )
    assert.equal(reserved(), 0)
  })

  test('that nobody will plan, or for which there is no room, is not handed on, and its place is given back', async () => {
    for (const outcome of ['duplicate', 'conflict', 'quarantined'] as const) {
      const { handOff, delivered, reserved } = countingHandOff()
      const { receive } = testIntake(async () => ({ outcome, receipt: 'r' }) as unknown as Accepted, {
        handOff,
      })
      await receive(standardRequest('msg_1', now, paid))
      assert.deepEqual([delivered.length, reserved()], [0, 0], outcome)
    }
    const never = () => assert.fail('nothing is to be planned')
    const handOff: HandOff = { reserve: never, deliver: never, release: never }
    const quarantine = testIntake(acceptAll, { handOff })
    assert.equal((await quarantine.receive(standardRequest('msg_1', now, '{"type":"x"}'))).status, 202)
    const full = countingHandOff(0)
    const { receive, entries } = testIntake(acceptAll, { handOff: full.handOff })
    assert.equal((await receive(standardRequest('msg_1', now, paid))).status, 202)
    assert.deepEqual(entries[0]?.next, { kind: 'plan', handOff: null })
    assert.deepEqual([full.delivered.length, full.reserved()], [0, 0])
  })
})

describe('what is refused, and stored nowhere', () => {
  const bad: [string, () => Request, number, ErrorCode][] = [
    [
      'an unknown producer',
      () => standardRequest('m', now, paid, { path: 'nobody' }),
      404,
      'producer_unknown',
    ],
    [
      'a path above the producer',
      () => standardRequest('m', now, paid, { path: 'stripe' }),
      404,
      'producer_unknown',
    ],
    [
      'a path below the producer',
      () => standardRequest('m', now, paid, { path: 'standard/x' }),
      404,
      'producer_unknown',
    ],
    ['another method', () => new Request('http://h.test/in/standard'), 405, 'method_not_allowed'],
    [
      'no signature',
      () =>
        new Request('http://h.test/in/standard', {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'application/json' },
        }),
      401,
      'signature_missing',
    ],
    [
      'a changed body',
      () => standardRequest('m', now, paid, { instead: paid.replace('in_1', 'in_2') }),
      401,
      'signature_invalid',
    ],
    [
      'the same JSON in another spelling',
      () => standardRequest('m', now, paid, { instead: JSON.stringify(JSON.parse(paid), null, 1) }),
      401,
      'signature_invalid',
    ],
    ['an old timestamp', () => standardRequest('m', now - 600, paid), 401, 'timestamp_stale'],
    ['a timestamp of the future', () => standardRequest('m', now + 600, paid), 401, 'timestamp_stale'],
    [
      'a timestamp that is no number',
      () => standardRequest('m', now, paid, { headers: { 'webhook-timestamp': `${now}x` } }),
      401,
      'timestamp_invalid',
    ],
    [
      'no content type',
      () => new Request('http://h.test/in/standard', { method: 'POST', body: new Uint8Array(2) }),
      415,
      'content_type_unsupported',
    ],
    [
      'another content type',
      () => standardRequest('m', now, paid, { headers: { 'content-type': 'text/plain' } }),
      415,
      'content_type_unsupported',
    ],
    [
      'a body compressed in an unknown way',
      () => standardRequest('m', now, paid, { headers: { 'content-encoding': 'zstd' } }),
      415,
      'content_encoding_unsupported',
    ],
    ['broken JSON', () => standardRequest('m', now, '{"type":'), 400, 'syntax_invalid'],
    ['an empty body', () => standardRequest('m', now, ''), 400, 'syntax_invalid'],
    ['an id with a dot', () => standardRequest('m.1', now, paid), 400, 'identity_invalid'],
    ['an id that is too long', () => standardRequest('m'.repeat(513), now, paid), 400, 'identity_invalid'],
    ['no id in an unsigned header', () => gitHubRequest('', 'push', '{}'), 400, 'identity_invalid'],
    ['no id in the body', () => stripeRequest(now, '{"type":"invoice.paid"}'), 400, 'identity_invalid'],
    [
      'an id that is no text',
      () => stripeRequest(now, '{"id":7,"type":"invoice.paid"}'),
      400,
      'identity_invalid',
    ],
  ]
  for (const [what, make, status, code] of bad) {
    test(`${what}: ${status} ${code}`, async () => {
      const { receive, entries, counters, log } = testIntake(acceptAll)
      const request = make()
      const response = await receive(request)
      assert.equal(response.status, status)
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
      const { detail, title, ...problem } = await problemOf(response)
      assert.deepEqual(problem, { type: 'about:blank', status, code, retryAfter: null })
      assert.ok(String(title).length > 0 && String(detail).length > 0 && String(detail).length < 300)
      assert.deepEqual(entries, [])
      assert.equal(response.headers.get('allow'), status === 405 ? 'POST' : null)
      const producerName = status === 404 ? '-' : request.url.slice(request.url.indexOf('/in/') + 4)
      assert.deepEqual([...counters], [[`${producerName} ${code}`, 1]])
      assert.equal(log.length, 1)
      assert.deepEqual([log[0]!.fields.producer, log[0]!.fields.code], [producerName, code])
    })
  }

  test('every other method gets 405 with Allow, and 410 is never said', async () => {
    const { receive } = testIntake(acceptAll)
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const response = await receive(new Request('http://h.test/in/standard', { method }))
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST'])
    }
  })

  test('the path counts, and neither query nor host', async () => {
    const { receive } = testIntake(acceptAll)
    const at = (url: string) =>
      receive(new Request(url, { method: 'POST', body: paid, headers: standardHeaders('m', now, paid) }))
    for (const url of [
      'http://h.test/in/standard?x=/in/nobody',
      'http://h.test/in/standard#x',
      'http://h.test/hooks/in/standard',
    ]) {
      assert.equal((await at(url)).status, 202, url)
    }
    for (const url of [
      'http://h.test/?x=/in/standard',
      'http://h.test/in/',
      'http://h.test/in/standard/',
      'http://h.test/in/%73tandard',
      'http://h.test/#/in/standard',
      'http://in/standard',
    ]) {
      assert.equal((await at(url)).status, 404, url)
    }
  })

  test('a body over the limit is not pulled further: 413', async () => {
    const { receive } = testIntake(acceptAll)
    const headers = { 'content-type': 'application/json', 'content-length': '10' }
    const { request, pulled, cancelled } = streamedRequest(
      'standard',
      headers,
      endless(new Uint8Array(65_536)),
    )
    const response = await receive(request)
    assert.deepEqual([response.status, (await problemOf(response)).code], [413, 'body_too_large'])
    assert.ok(pulled() <= standard.maxBytes + 65_536)
    assert.ok(cancelled())
  })

  test('a body that stops arriving is given up: 408', async () => {
    const { receive, clock } = testIntake(acceptAll)
    const { request } = streamedRequest('standard', { 'content-type': 'application/json' }, [], 'hangs')
    const response = receive(request)
    await wait(5)
    clock.step(clock.now() + standard.maxReadMs)
    assert.equal((await response).status, 408)
  })

  test('a torn body: 400', async () => {
    const { receive } = testIntake(acceptAll)
    const { request } = streamedRequest(
      'standard',
      { 'content-type': 'application/json' },
      [Buffer.from('{')],
      'breaks',
    )
    assert.deepEqual((await problemOf(await receive(request))).code, 'body_broken')
  })

  test('more than the limit in work: 429 with Retry-After, and again once there is room', async () => {
    let commit = () => {}
    const committed = new Promise<void>((resolve) => {
      commit = resolve
    })
    const { receive, entries } = testIntake(
      async (entry) => {
        await committed
        return await acceptAll(entry)
      },
      { inFlightLimit: 2 },
    )
    const two = [receive(standardRequest('m1', now, paid)), receive(standardRequest('m2', now, paid))]
    const third = await receive(standardRequest('m3', now, paid))
    assert.deepEqual([third.status, third.headers.get('retry-after')], [429, '2'])
    commit()
    for (const response of await Promise.all(two)) assert.equal(response.status, 202)
    assert.equal((await receive(standardRequest('m3', now, paid))).status, 202)
    assert.equal(entries.length, 3)
  })

  test('a flood of bad deliveries is ten log lines a second, and the counters know the rest', async () => {
    const { receive, log, counters } = testIntake(acceptAll)
    for (let index = 0; index < 50; index++) await receive(standardRequest('m', now, paid, { instead: 'x' }))
    assert.equal(log.length, 10)
    assert.equal(counters.get('standard signature_invalid'), 50)
  })
})

describe('when as many receipts wait as may', () => {
  const settled = () => new Promise((resolve) => setImmediate(resolve))

  test('deliveries get 503 with Retry-After before their body is read, until fewer wait', async () => {
    let waiting = 5
    let asked = 0
    const { receive, clock, entries, counters, ports } = testIntake(acceptAll, { backlogLimit: 5 })
    ports.store.backlog = async () => {
      asked++
      return waiting
    }
    // Nobody waits for the store's first answer.
    assert.equal((await receive(standardRequest('m1', now, paid))).status, 202)
    await settled()
    const request = standardRequest('m2', now, paid)
    const refused = await receive(request)
    assert.equal(refused.status, 503)
    const { code, retryAfter } = await problemOf(refused)
    assert.deepEqual([code, retryAfter], ['backlog_full', '10'])
    assert.equal(request.bodyUsed, false)
    assert.equal(counters.get('standard backlog_full'), 1)
    for (let n = 0; n < 20; n++) await receive(standardRequest(`m${n}`, now, paid))
    assert.equal(asked, 1, 'the store is asked once a second, however many come')
    waiting = 4
    clock.jump(1_000)
    assert.equal((await receive(standardRequest('m2', now, paid))).status, 503)
    await settled()
    assert.equal((await receive(standardRequest('m2', now, paid))).status, 202)
    assert.deepEqual(
      entries.map(({ receipt }) => receipt.eventId),
      ['m1', 'm2'],
    )
  })

  test('a store that does not answer leaves it at the last answer', async () => {
    const { receive, clock, ports } = testIntake(acceptAll, { backlogLimit: 5 })
    ports.store.backlog = async () => 5
    await receive(standardRequest('m1', now, paid))
    await settled()
    ports.store.backlog = async () => {
      throw new Error('down')
    }
    clock.jump(1_000)
    await receive(standardRequest('m2', now, paid))
    await settled()
    assert.equal((await receive(standardRequest('m2', now, paid))).status, 503)
  })
})

describe('our own failure is 503 with Retry-After, and nothing is acknowledged', () => {
  const codes: ErrorCode[] = [
    'store_unavailable',
    'commit_unknown',
    'store_full',
    'store_read_only',
    'store_corrupt',
    'store_busy',
    'store_closed',
    'store_schema_newer',
    'overloaded',
    // A sender's fault by its name, and still ours when the store says it.
    'identity_invalid',
    'body_too_large',
  ]
  for (const code of codes) {
    test(code, async () => {
      const { handOff, reserved, delivered } = countingHandOff()
      const { receive, counters, log } = testIntake(
        async () => {
          throw new CounterfoilError(code, 'injected')
        },
        { handOff },
      )
      const response = await receive(standardRequest('m', now, paid))
      const { title, detail, ...problem } = await problemOf(response)
      assert.equal(response.status, 503)
      assert.deepEqual(problem, { type: 'about:blank', status: 503, code, retryAfter: '2' })
      assert.deepEqual([reserved(), delivered.length], [0, 0])
      assert.deepEqual([...counters], [[`standard ${code}`, 1]])
      assert.deepEqual(log, [
        {
          level: 'error',
          message: 'a delivery could not be stored; its sender was told to send again',
          fields: { producer: 'standard', code, error: 'injected' },
        },
      ])
    })
  }

  test('an error that nobody foresaw, wherever: told by name and place, never by its text', async () => {
    const broken = producer('broken', {
      ...standardWebhooks({ secrets: standardSecret }),
      facts() {
        throw new TypeError('the payload was sk_live_abc')
      },
    })
    const { receive, log, entries } = testIntake(acceptAll, { producers: [broken] })
    const response = await receive(standardRequest('m', now, paid, { path: 'broken' }))
    assert.equal(response.status, 503)
    const text = JSON.stringify([await response.json(), log])
    assert.ok(!text.includes('sk_live'))
    assert.match(text, /TypeError.*receive\.test\.ts/)
    assert.deepEqual(entries, [])
  })

  test('a store that is down for a while fills no disk with lines', async () => {
    const { receive, log } = testIntake(async () => {
      throw new CounterfoilError('store_unavailable', 'down')
    })
    for (let index = 0; index < 50; index++) await receive(standardRequest(`m${index}`, now, paid))
    assert.equal(log.length, 10)
  })

  test('a delivery that failed leaves its place to the next', async () => {
    let down = true
    const { receive } = testIntake(
      async (entry) => {
        if (down) throw new Error('down')
        return await acceptAll(entry)
      },
      { inFlightLimit: 1 },
    )
    for (let index = 0; index < 3; index++)
      assert.equal((await receive(standardRequest('m', now, paid))).status, 503)
    down = false
    assert.equal((await receive(standardRequest('m', now, paid))).status, 202)
  })
})

describe('quarantine: authentic, and yet it cannot start work', () => {
  const quarantined = async (request: Request, about: Parameters<typeof testIntake>[1] = {}) => {
    const { receive, entries } = testIntake(acceptAll, about)
    const response = await receive(request)
    assert.equal(response.status, 202)
    const { next, receipt } = entries[0]!
    assert.ok(next.kind === 'quarantine')
    const answer = (await response.json()) as Record<string, unknown>
    assert.deepEqual(answer, {
      receipt: receipt.id,
      outcome: 'quarantined',
      quarantine: next.quarantine.id,
      reason: next.quarantine.reason,
    })
    assert.match(next.quarantine.id, /^qua_/)
    assert.equal(next.quarantine.owner, `owner of ${receipt.producer}`)
    return { receipt, reason: next.quarantine.reason, detail: next.quarantine.detail, entry: entries[0]! }
  }

  test('a type that nobody subscribed to', async () => {
    const { reason, detail, receipt } = await quarantined(
      standardRequest('m', now, '{"type":"invoice.voided"}'),
    )
    assert.equal(reason, 'unsupported-type')
    assert.deepEqual(detail, { type: 'invoice.voided', version: null, supported: ['invoice.paid'] })
    assert.equal(receipt.type, 'invoice.voided')
  })

  test('no type, or one that no column can hold', async () => {
    for (const type of [undefined, null, 7, '', 'x'.repeat(513), 'a\u0000b']) {
      const { reason, detail, receipt } = await quarantined(
        standardRequest('m', now, JSON.stringify({ type })),
      )
      assert.deepEqual([reason, receipt.type, detail.type], ['unsupported-type', '-', null])
    }
  })

  test('a producer without any subscription', async () => {
    const { detail } = await quarantined(standardRequest('m', now, paid), { types: [] })
    assert.deepEqual(detail, { type: 'invoice.paid', version: null, supported: [] })
  })

  test('a version that nobody subscribed to', async () => {
    const body = JSON.stringify({ id: 'evt_1', type: 'invoice.paid', api_version: '2019' })
    const types = [
      payments.event('invoice.paid', { version: '2025' }),
      payments.event('invoice.paid', { version: '2026' }),
    ]
    const { reason, detail } = await quarantined(stripeRequest(now, body), { types })
    assert.equal(reason, 'unsupported-type')
    assert.deepEqual(detail, { type: 'invoice.paid', version: '2019', supportedVersions: ['2025', '2026'] })
  })

  test('data that does not fit its schema: where and why, and not what', async () => {
    const types = [
      standard.event('invoice.paid', { schema: z.object({ id: z.string(), amount: z.number() }) }),
    ]
    const body = JSON.stringify({ type: 'invoice.paid', data: { id: 'in_1', amount: 'sk_live_abc' } })
    const { reason, detail } = await quarantined(standardRequest('m', now, body), { types })
    assert.equal(reason, 'schema-failure')
    assert.deepEqual(detail, {
      faults: [{ path: '/amount', message: 'Invalid input: expected number, received string' }],
    })
  })

  test('a schema that throws: kept, and the sender does not try for ever', async () => {
    const schema = z.unknown().transform(() => {
      throw new Error('sk_live_abc')
    })
    const types = [standard.event('invoice.paid', { schema })]
    const { reason, detail } = await quarantined(standardRequest('m', now, paid), { types })
    assert.equal(reason, 'schema-failure')
    assert.deepEqual(detail, { faults: [{ path: '', message: 'the schema itself threw (Error)' }] })
  })

  test('a payload that JSON cannot carry, with the id and type of its headers', async () => {
    const body = '{"id":9007199254740993}'
    const { reason, detail, receipt, entry } = await quarantined(gitHubRequest('guid-1', 'push', body))
    assert.deepEqual([reason, detail.path], ['not-representable', '/id'])
    assert.deepEqual([receipt.eventId, receipt.type], ['guid-1', 'push'])
    assert.equal(receipt.fingerprint, receipt.rawFingerprint)
    assert.equal(Buffer.from(vault.open(entry.payload, receipt.id)).toString(), body)
  })

  test('a payload that cannot be read and holds its own id is known by its bytes', async () => {
    const { reason, receipt } = await quarantined(stripeRequest(now, '{"id":"evt_1","id":"evt_2"}'))
    assert.equal(reason, 'not-representable')
    assert.equal(receipt.eventId, `content:${receipt.rawFingerprint}`)
    assert.equal(receipt.type, '-')
  })

  test('whole numbers beyond 2^53 are carried where the producer says so', async () => {
    const lossless = producer('lossless', standardWebhooks({ secrets: standardSecret }), {
      numbers: 'lossless',
    })
    const { handOff, delivered } = countingHandOff()
    const { receive } = testIntake(acceptAll, {
      producers: [lossless],
      types: [lossless.event('t')],
      handOff,
    })
    const body = '{"type":"t","data":{"id":9007199254740993}}'
    assert.equal((await receive(standardRequest('m', now, body, { path: 'lossless' }))).status, 202)
    assert.deepEqual(delivered[0]?.event.data, { id: 9007199254740993n })
  })
})

test('no secret, signature or payload is in a log line, a counter, a receipt, a quarantine entry or a problem', async () => {
  const marker = 'sk_live_marker'
  const types = [standard.event('invoice.paid', { schema: z.object({ id: z.number() }) }), hub.event('push')]
  const { receive, log, counters, entries } = testIntake(acceptAll, { types })
  const body = JSON.stringify({ type: 'invoice.paid', data: { id: marker } })
  const requests = [
    standardRequest('m', now, body),
    standardRequest('m', now, body, { instead: `${body} ` }),
    standardRequest('m', now - 9_999, body),
    standardRequest('m', now, `{"${marker}`),
    standardRequest('m', now, body, { headers: { 'webhook-timestamp': marker } }),
    standardRequest('m', now, body, { headers: { 'webhook-signature': marker } }),
    standardRequest('m', now, body, { headers: { 'content-type': marker } }),
    standardRequest('m', now, body, { headers: { 'content-encoding': marker } }),
    standardRequest('m', now, body, { path: marker }),
    standardRequest(`${marker}.`, now, body),
    gitHubRequest('guid', 'push', `"${marker}`),
    stripeRequest(now, JSON.stringify({ type: marker })),
    stripeRequest(now, body, { headers: { 'stripe-signature': `t=${now},v1=${marker}` } }),
  ]
  const said: unknown[] = []
  for (const request of requests) said.push(await (await receive(request)).json())
  const kept = entries.map(({ payload: _, ...entry }) => entry)
  const text = JSON.stringify([said, log, [...counters], kept])
  const { 'webhook-signature': signature } = standardHeaders('m', now, body)
  const secrets = [
    marker,
    signature.slice(3),
    gitHubSecret,
    stripeSecret,
    standardSecret.slice(6),
    standardKey.toString(),
    vaultKey.toString(),
  ]
  for (const secret of secrets) assert.ok(!text.includes(secret), secret)
  assert.ok(entries.length > 0 && deliveryOf({}, '').body.length === 0)
})
