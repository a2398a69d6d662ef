import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import type { Contract, EffectKey, IdempotencyKey } from '../domain/index.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import {
  type CallContext,
  type CallRecipient,
  call,
  decodeCall,
  encodeCall,
  NotSent,
} from './call-recipient.ts'
import { recipient } from './recipient.ts'

const never = new AbortController().signal
const about = {
  idempotencyKey: 'cf_1' as IdempotencyKey,
  effectKey: 'invoice/481' as EffectKey,
  order: null,
  attempt: 2,
}
const stripeLike: Contract = {
  idempotency: {
    header: 'Idempotency-Key',
    remembersFor: '24h',
    otherPayload: 'refused',
    replays: 'first-answer',
    inFlight: { status: 409 },
  },
  outcomes: [{ status: 400, body: { pointer: '/code', equals: 'try_later' }, means: 'not-acted' }],
  correlation: { pointer: '/id' },
}

async function outcomeOf(does: CallRecipient['call'], more: Partial<CallRecipient> = {}) {
  const far: CallRecipient = {
    name: 'far',
    contract: stripeLike,
    timeoutMs: 5_000,
    concurrency: 1,
    call: does,
    ...more,
  }
  return (await call(new VirtualClock(), far, { amount: 1 }, about, never)).outcome
}

const fails = (error: object) => async () => {
  throw Object.assign(new Error('card 4242 hunter2'), error)
}

describe('a call', () => {
  test('gets its request, one stable key, an order, a signal and a deadline', async () => {
    let seen: [unknown, CallContext] | undefined
    await outcomeOf(async (request: unknown, context) => {
      seen = [request, context]
    })
    assert.deepEqual(seen?.[0], { amount: 1 })
    const { idempotencyKey, effectKey, order, attempt, deadline, signal } = seen![1]
    assert.deepEqual({ idempotencyKey, effectKey, order, attempt }, about)
    assert.equal(deadline, new VirtualClock().now() + 5_000)
    assert.equal(signal.aborted, false)
  })

  const table: [string, CallRecipient['call'], string, RegExp][] = [
    ['an answer confirms, and its id is kept', async () => ({ id: 'ch_1' }), 'confirmed', /answered 200/],
    [
      'a Response is read like any HTTP answer',
      async () => new Response('{}', { status: 422 }),
      'refused',
      /422/,
    ],
    ['a status of AWS is read', async () => ({ $metadata: { httpStatusCode: 200 } }), 'confirmed', /200/],
    ['an error with a status is read by the contract', fails({ status: 402 }), 'refused', /402/],
    [
      'and by its body',
      fails({ statusCode: 400, raw: { code: 'try_later' } }),
      'notActed',
      /contract reads 400/,
    ],
    ['a key in work is unknown', fails({ status: 409 }), 'unknown', /still in work/],
    ['not let in is not acted', fails({ response: { status: 401 } }), 'notActed', /not let in/],
    [
      'an error without a status may have been sent',
      fails({ code: 'ECONNREFUSED' }),
      'unknown',
      /Error ECONNREFUSED/,
    ],
    [
      'a declared throw was not',
      async () => {
        throw new NotSent('no token')
      },
      'notActed',
      /nothing was sent: no token/,
    ],
    [
      'what is thrown at once is read too',
      () => {
        throw new NotSent('no token')
      },
      'notActed',
      /no token/,
    ],
  ]
  for (const [name, does, kind, why] of table) {
    test(`${name}: ${kind}`, async () => {
      const outcome = await outcomeOf(does)
      assert.equal(outcome.kind, kind)
      assert.match(outcome.why, why)
      assert.doesNotMatch(JSON.stringify(outcome), /hunter2|4242/)
    })
  }

  test('is read by the classify function first', async () => {
    const outcome = await outcomeOf(async () => ({ state: 'queued' }), {
      classify: (result) =>
        'answer' in result ? { kind: 'accepted', why: 'queued', correlation: 'job_1' } : undefined,
    })
    assert.deepEqual(outcome, { kind: 'unknown', accepted: true, why: 'queued', correlation: 'job_1' })
    const left = await outcomeOf(async () => ({ id: 'x' }), { classify: () => undefined })
    assert.deepEqual([left.kind, left.correlation], ['confirmed', 'x'])
    const broken = await outcomeOf(async () => 1, {
      classify: () => {
        throw new TypeError('hunter2')
      },
    })
    assert.deepEqual(broken, { kind: 'unknown', why: 'the classify function threw TypeError' })
  })

  test('past its deadline is unknown, and its late answer is told when it comes', async () => {
    const clock = new VirtualClock()
    let answer: (value: unknown) => void = () => {}
    let aborted = false
    const far: CallRecipient = {
      name: 'far',
      contract: stripeLike,
      timeoutMs: 5_000,
      concurrency: 1,
      call: (_, { signal }) => {
        signal.addEventListener('abort', () => {
          aborted = true
        })
        return new Promise((resolve) => {
          answer = resolve
        })
      },
    }
    const calling = call(clock, far, {}, about, never)
    clock.step()
    const { outcome, late } = await calling
    assert.deepEqual(outcome, { kind: 'unknown', why: 'the call did not end within 5000 ms' })
    assert.equal(aborted, true)
    answer({ id: 'ch_1' })
    assert.deepEqual((await late)?.kind, 'confirmed')
  })

  test("an SDK's own retry is stopped, and proves nothing of what went out first", async (t) => {
    let requests = 0
    t.mock.method(globalThis, 'fetch', async () => {
      requests++
      throw new TypeError('reset')
    })
    const outcome = await outcomeOf(async (_, { fetch }) => {
      await fetch('http://far.test/token')
      return undefined
    })
    assert.equal(outcome.kind, 'unknown')
    requests = 0
    const retried = await outcomeOf(async (_, { fetch }) => {
      for (let i = 0; ; i++) {
        try {
          return await fetch('http://far.test/charges', { method: 'POST' })
        } catch {
          if (i === 2) throw new NotSent('gave up')
        }
      }
    })
    assert.equal(requests, 1)
    assert.equal(retried.kind, 'unknown')
    assert.match(retried.why, /a request had gone out; .*2 of the client's own retries stopped/)
  })
})

describe('a stored call', () => {
  test('comes back as it was, and is the same bytes each time', () => {
    const request = { amount: 100, to: ['é', null] }
    assert.deepEqual(decodeCall(encodeCall(request)), request)
    assert.deepEqual(encodeCall(request), encodeCall(structuredClone(request)))
  })

  test('holds nothing that JSON cannot carry, and is not taken for an HTTP request', () => {
    assert.throws(() => encodeCall({ amount: Number.NaN }), { code: 'effect_payload_invalid' })
    assert.throws(() => decodeCall(Buffer.from('counterfoil-request/1\n{}\n')), { code: 'store_corrupt' })
  })
})

describe('a recipient by function', () => {
  const charge = async (request: { readonly amount: number }, { idempotencyKey }: CallContext) => ({
    id: `${idempotencyKey}/${request.amount}`,
  })

  test('takes effects whose request fits its function', () => {
    const far = recipient('far', { contract: stripeLike, call: charge })
    const payload = z.object({ cents: z.number() })
    const effect = far.effect('charge', { payload, request: ({ cents }) => ({ amount: cents }) })
    assert.equal(effect.recipient.kind, 'call')
    // @ts-expect-error the function takes an amount
    far.effect('charge', { payload, request: ({ cents }) => ({ total: cents }) })
  })

  test('is refused without the functions that its contract promises', () => {
    const lookup = { by: 'function', absence: { final: false } } as const
    const code = 'config_invalid'
    assert.throws(() => recipient('far', { contract: { lookup }, call: charge }), {
      code,
      message: /lacks its lookup/,
    })
    assert.throws(() => recipient('far', { contract: { lookup }, url: 'http://far.test' }), { code })
    const contract: Contract = { ...stripeLike, ordering: { tombstone: { method: 'PUT', path: '/{key}' } } }
    assert.throws(() => recipient('far', { contract, call: charge }), {
      code,
      message: /lacks its tombstone/,
    })
  })

  test('is refused a time-out longer than its memory of keys', () => {
    const contract: Contract = { idempotency: { ...stripeLike.idempotency!, remembersFor: '10s' } }
    assert.throws(() => recipient('far', { contract, call: charge, timeout: '30s' }), {
      code: 'config_invalid',
    })
  })
})
