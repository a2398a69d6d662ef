import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Contract, LookupRule, OutcomeRule } from './contract.ts'
import type { Exchange } from './exchange.ts'
import { classify, classifyLookup, classifyTombstone } from './outcome.ts'
import { maxRetryAfterMs, retryAfterMs } from './wait.ts'

const now = Date.UTC(2026, 0, 5, 12, 0, 0)

function answered(status: number, body: unknown = '', headers: Record<string, string> = {}): Exchange {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { kind: 'answered', status, headers, body: new TextEncoder().encode(text) }
}

function withOutcomes(...outcomes: OutcomeRule[]): Contract {
  return { outcomes }
}

function withAnswers(...answers: LookupRule[]): Contract {
  return { lookup: { by: 'key', path: '/{key}', absence: { final: false }, answers } }
}

function kindOf(contract: Contract, exchange: Exchange): string {
  return classify(contract, exchange, now).kind
}

describe('without a rule of the contract', () => {
  const table: [number[], string][] = [
    [[200, 201, 202, 204, 299], 'confirmed'],
    [[400, 402, 404, 410, 412, 413, 422, 451, 499], 'refused'],
    [[401, 403, 407], 'notActed'],
    [[408, 409, 425, 429], 'unknown'],
    [[500, 501, 502, 503, 504, 599], 'unknown'],
    [[300, 301, 302, 303, 307, 308], 'unknown'],
    [[999], 'unknown'],
  ]
  for (const [statuses, kind] of table) {
    for (const status of statuses)
      test(`${status} leaves it ${kind}`, () => assert.equal(kindOf({}, answered(status)), kind))
  }

  test('a failure before any byte was sent proves that nothing acted', () => {
    assert.deepEqual(classify({}, { kind: 'notSent', why: 'no DNS' }, now), {
      kind: 'notActed',
      why: 'nothing was sent: no DNS',
    })
  })

  test('a time-out or reset leaves it unknown, whatever the contract says', () => {
    const contract = withOutcomes({ status: '5xx', means: 'not-acted' })
    assert.deepEqual(classify(contract, { kind: 'unclear', why: 'reset' }, now), {
      kind: 'unknown',
      why: 'reset',
    })
  })

  test('a recipient that acts and answers 500 is not taken to have done nothing', () => {
    assert.equal(kindOf({}, answered(500, { error: 'oops' })), 'unknown')
  })
})

describe('by the contract', () => {
  test('a 200 with an error in its body is what the contract says', () => {
    const contract = withOutcomes(
      { status: 200, body: { pointer: '/ok', equals: false }, means: 'refused' },
      { status: 200, body: { pointer: '/error/code', equals: 'try_later' }, means: 'not-acted' },
    )
    assert.equal(kindOf(contract, answered(200, { ok: false })), 'refused')
    assert.equal(kindOf(contract, answered(200, { error: { code: 'try_later' } })), 'notActed')
    assert.equal(kindOf(contract, answered(200, { ok: true })), 'confirmed')
  })

  test('a 409 may mean that it is already done, and a 404 on a deletion too', () => {
    const contract = withOutcomes({ status: 409, means: 'confirmed' }, { status: 404, means: 'confirmed' })
    assert.equal(kindOf(contract, answered(409)), 'confirmed')
    assert.equal(kindOf(contract, answered(404)), 'confirmed')
    assert.equal(kindOf(contract, answered(410)), 'refused')
  })

  test('the first rule that matches decides, and a class stands for its hundred', () => {
    const contract = withOutcomes({ status: 503, means: 'not-acted' }, { status: '5xx', means: 'refused' })
    assert.equal(kindOf(contract, answered(503)), 'notActed')
    assert.equal(kindOf(contract, answered(500)), 'refused')
    assert.equal(kindOf(contract, answered(599)), 'refused')
    assert.equal(kindOf(contract, answered(400)), 'refused')
    assert.equal(kindOf(contract, answered(200)), 'confirmed')
  })

  test('a member is compared by type and value, and an absent one equals nothing', () => {
    const equals = (value: string | number | boolean | null) =>
      withOutcomes({ status: 200, body: { pointer: '/a', equals: value }, means: 'refused' })
    assert.equal(kindOf(equals(1), answered(200, { a: '1' })), 'confirmed')
    assert.equal(kindOf(equals(null), answered(200, {})), 'confirmed')
    assert.equal(kindOf(equals(null), answered(200, { a: null })), 'refused')
    assert.equal(kindOf(equals(true), answered(200, 'not json')), 'unknown', 'it might be there')
  })

  test('the fence status is fenced, where there is a fence', () => {
    const contract: Contract = { ordering: { fence: { header: 'Fence-Version', rejectedWith: 412 } } }
    assert.equal(kindOf(contract, answered(412)), 'fenced')
    assert.equal(kindOf({}, answered(412)), 'refused')
  })

  test("the recipient's own id is kept, from body or header, bounded", () => {
    const byPointer: Contract = { correlation: { pointer: '/id' } }
    const byHeader: Contract = { correlation: { header: 'Operation-Id' } }
    assert.equal(classify(byPointer, answered(200, { id: 'op_1' }), now).correlation, 'op_1')
    assert.equal(classify(byPointer, answered(200, { id: 42 }), now).correlation, '42')
    assert.equal(classify(byPointer, answered(500, { id: 'op_1' }), now).correlation, 'op_1')
    assert.equal('correlation' in classify(byPointer, answered(200, { id: { a: 1 } }), now), false)
    assert.equal(classify(byHeader, answered(200, '', { 'operation-id': 'op_2' }), now).correlation, 'op_2')
    assert.equal(classify(byPointer, answered(200, { id: 'x'.repeat(900) }), now).correlation?.length, 200)
  })

  test('every answer is read, and a wait asked for is told', () => {
    const outcome = classify({}, answered(429, '', { 'retry-after': '7' }), now)
    assert.deepEqual(
      { kind: outcome.kind, ms: outcome.retryAfterMs, status: outcome.status },
      { kind: 'unknown', ms: 7_000, status: 429 },
    )
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 599 }),
        fc.string(),
        fc.string(),
        (status, body, retryAfter) => {
          const { kind, why } = classify(
            { correlation: { pointer: '/a' } },
            answered(status, body, { 'retry-after': retryAfter }),
            now,
          )
          assert.ok(why.length > 0)
          assert.equal(kind === 'confirmed', status < 300)
          // Nothing but a contract, or not being let in, turns an answer into proof that nothing was done.
          assert.equal(kind === 'notActed', [401, 403, 407].includes(status))
        },
      ),
    )
  })
})

describe('a lookup', () => {
  const table: [Exchange, string][] = [
    [answered(200), 'acted'],
    [answered(204), 'acted'],
    [answered(404), 'absent'],
    [answered(400), 'nothing'],
    [answered(401), 'nothing'],
    [answered(410), 'nothing'],
    [answered(302), 'nothing'],
    [answered(500), 'nothing'],
    [{ kind: 'notSent', why: 'no DNS' }, 'nothing'],
    [{ kind: 'unclear', why: 'reset' }, 'nothing'],
  ]
  for (const [exchange, kind] of table) {
    const what = exchange.kind === 'answered' ? exchange.status : exchange.kind
    test(`${what} proves: ${kind}`, () => assert.equal(classifyLookup({}, exchange).kind, kind))
  }

  test('is read by the contract first', () => {
    const contract = withAnswers(
      { status: 200, body: { pointer: '/state', equals: 'failed' }, means: 'refused' },
      { status: 200, body: { pointer: '/state', equals: 'pending' }, means: 'nothing' },
      { status: 410, means: 'absent' },
    )
    assert.equal(classifyLookup(contract, answered(200, { state: 'failed' })).kind, 'refused')
    assert.equal(classifyLookup(contract, answered(200, { state: 'pending' })).kind, 'nothing')
    assert.equal(classifyLookup(contract, answered(200, { state: 'done' })).kind, 'acted')
    assert.equal(classifyLookup(contract, answered(410)).kind, 'absent')
  })

  test("is not read by the attempt's rules", () => {
    assert.equal(
      classifyLookup(withOutcomes({ status: 404, means: 'confirmed' }), answered(404)).kind,
      'absent',
    )
  })
})

describe('Retry-After', () => {
  const table: [string | undefined, number | undefined][] = [
    [undefined, undefined],
    ['0', 0],
    ['120', 120_000],
    [' 120 ', 120_000],
    ['3600', maxRetryAfterMs],
    ['3601', maxRetryAfterMs],
    ['999999999999999999999', maxRetryAfterMs],
    ['9'.repeat(400), maxRetryAfterMs],
    ['Mon, 05 Jan 2026 12:01:00 GMT', 60_000],
    ['Monday, 05-Jan-26 12:01:00 GMT', 60_000],
    ['Mon Jan  5 12:01:00 2026', 60_000],
    ['Mon, 05 Jan 2026 12:00:00 GMT', 0],
    ['Tue, 05 Jan 2066 12:00:00 GMT', maxRetryAfterMs],
    // In the past, or nothing that the header may hold.
    ['Mon, 05 Jan 2026 11:59:59 GMT', undefined],
    ['-1', undefined],
    ['+1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['', undefined],
    ['soon', undefined],
    ['maybe 2050', undefined],
    ['2050-01-01T00:00:00Z', undefined],
    ['Mon, 99 Jan 2050 12:01:00 GMT', undefined],
    ['120, 120', undefined],
    ['Infinity', undefined],
  ]
  for (const [header, ms] of table) {
    test(`'${header?.slice(0, 40)}' is ${ms}`, () => assert.equal(retryAfterMs(header, now), ms))
  }

  test('is never negative, never beyond the bound, whatever comes', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const ms = retryAfterMs(text, now)
        return ms === undefined || (ms >= 0 && ms <= maxRetryAfterMs)
      }),
    )
  })
})

test('a body that the contract reads and that is no JSON leaves a 200 unknown (C26)', () => {
  const contract: Contract = {
    outcomes: [{ status: 200, body: { pointer: '/ok', equals: false }, means: 'refused' }],
  }
  const answered = (body: string) =>
    ({ kind: 'answered', status: 200, headers: {}, body: Buffer.from(body) }) as const
  assert.equal(classify(contract, answered('{"ok":true}'), 0).kind, 'confirmed')
  assert.equal(classify(contract, answered('{"ok":false}'), 0).kind, 'refused')
  assert.equal(classify(contract, answered('<html>'), 0).kind, 'unknown')
  assert.equal(classify({}, answered('<html>'), 0).kind, 'confirmed')
})

describe('what a contract adds', () => {
  const idempotency = {
    header: 'Idempotency-Key',
    remembersFor: '24h',
    otherPayload: 'refused',
    replays: 'first-success',
  } as const

  test('a key still in work is unknown, waited for and not refused, whatever its status', () => {
    const contract: Contract = {
      idempotency: {
        ...idempotency,
        inFlight: { status: 400, body: { pointer: '/code', equals: 'in_progress' } },
      },
    }
    const outcome = classify(contract, answered(400, { code: 'in_progress' }, { 'retry-after': '3' }), now)
    assert.deepEqual([outcome.kind, outcome.retryAfterMs], ['unknown', 3_000])
    assert.match(outcome.why, /still in work/)
    assert.equal(kindOf(contract, answered(400, { code: 'bad_amount' })), 'refused')
    assert.equal(kindOf(contract, answered(400, '<html>')), 'unknown', 'it might say so')
  })

  test('accepted is not done', () => {
    const outcome = classify(withOutcomes({ status: 202, means: 'accepted' }), answered(202), now)
    assert.deepEqual([outcome.kind, outcome.accepted], ['unknown', true])
  })

  test('who is not let in did not act, and the owner is told', () => {
    for (const status of [401, 403, 407]) {
      const { kind, alert } = classify({}, answered(status), now)
      assert.deepEqual([kind, alert], ['notActed', 'credentials-refused'])
    }
    assert.equal(kindOf(withOutcomes({ status: 403, means: 'refused' }), answered(403)), 'refused')
  })

  test('a header decides where a rule reads one', () => {
    const contract = withOutcomes({
      status: 403,
      header: { name: 'X-RateLimit-Remaining', equals: '0' },
      means: 'not-acted',
    })
    const limited = classify(contract, answered(403, '', { 'x-ratelimit-remaining': '0' }), now)
    assert.deepEqual([limited.kind, limited.alert], ['notActed', undefined])
    const denied = classify(contract, answered(403, '', { 'x-ratelimit-remaining': '5' }), now)
    assert.equal(denied.alert, 'credentials-refused')
  })

  test('a replayed answer says so', () => {
    const contract: Contract = {
      idempotency: { ...idempotency, marker: { header: 'Idempotent-Replayed', equals: 'true' } },
    }
    assert.match(
      classify(contract, answered(200, '', { 'idempotent-replayed': 'true' }), now).why,
      /replayed/,
    )
    assert.doesNotMatch(classify(contract, answered(200), now).why, /replayed/)
  })

  test('a broken condition is fenced', () => {
    const contract: Contract = { ordering: { conditional: { header: 'If-Match', rejectedWith: 412 } } }
    assert.equal(kindOf(contract, answered(412)), 'fenced')
  })
})

describe('a tombstone', () => {
  const contract: Contract = {
    ordering: {
      tombstone: {
        method: 'PUT',
        path: '/{key}',
        answers: [
          { status: 409, body: { pointer: '/state', equals: 'confirmed' }, means: 'acted' },
          { status: 409, body: { pointer: '/state', equals: 'refused' }, means: 'refused' },
        ],
      },
    },
  }
  const table: [Exchange, string][] = [
    [answered(200), 'closed'],
    [answered(201), 'closed'],
    [answered(409, { state: 'confirmed' }), 'acted'],
    [answered(409, { state: 'refused' }), 'refused'],
    [answered(409, { state: 'in-flight' }), 'nothing'],
    [answered(409, '<html>'), 'nothing'],
    [answered(404), 'nothing'],
    [answered(500), 'nothing'],
    [{ kind: 'unclear', why: 'reset' }, 'nothing'],
  ]
  for (const [exchange, kind] of table) {
    const what =
      exchange.kind === 'answered' ? `${exchange.status} ${Buffer.from(exchange.body)}` : exchange.kind
    test(`answered ${what} proves: ${kind}`, () =>
      assert.equal(classifyTombstone(contract, exchange).kind, kind))
  }
})
