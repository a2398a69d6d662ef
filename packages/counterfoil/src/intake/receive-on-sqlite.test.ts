import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { claim, planFor, plansOf } from '../store/conformance/given.ts'
import type { Store } from '../store/index.ts'
import { sqlite } from '../store/sqlite/index.ts'
import { readEvent } from './event.ts'
import { hub, now, payments, standard, testIntake, vault } from './fixtures/intake.ts'
import {
  gitHubRequest,
  standardHeaders,
  standardRequest,
  standardSecret,
  streamedRequest,
  stripeHeaders,
  stripeRequest,
  stripeSecret,
} from './fixtures/senders.ts'
import { eventTypes, producer } from './producer.ts'
import { standardWebhooks, stripe } from './producers/index.ts'

const paid = JSON.stringify({ type: 'invoice.paid', timestamp: '2026-01-01T00:00:00Z', data: { id: 'in_1' } })

type Answer = {
  status: number
  receipt?: string
  outcome?: string
  reason?: string
  quarantine?: string
  code?: string
  sameContentAs?: string
  first?: string
}

/** A real store in a directory of its own, and the intake over it. */
async function onStore(
  run: (world: {
    readonly store: Store
    readonly send: (request: Request) => Promise<Answer>
    readonly intake: ReturnType<typeof testIntake>
  }) => Promise<void>,
  about: Parameters<typeof testIntake>[1] = {},
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-intake-'))
  const store = sqlite(join(directory, 'counterfoil.db'))
  try {
    await store.open({ migrate: true })
    const intake = testIntake((entry) => store.accept(entry), about)
    const send = async (request: Request) => {
      const response = await intake.receive(request)
      return { status: response.status, ...((await response.json()) as object) } as Answer
    }
    await run({ store, send, intake })
  } finally {
    await store.close()
    rmSync(directory, { recursive: true })
  }
}

const totals = async (store: Store) => {
  const { receipts, outbox, quarantine } = await store.status()
  return { receipts: receipts.total, duplicates: receipts.duplicates, waiting: outbox.waiting, quarantine }
}

describe('a delivery on the real store', () => {
  test('is refused while as many wait as may, and taken again once they are planned', () =>
    onStore(
      async ({ store, send, intake: { clock, ports } }) => {
        ports.store.backlog = () => store.backlog()
        const next = async (id: string) => {
          clock.jump(1_000)
          const { status } = await send(standardRequest(id, now, paid))
          // The store's answer to who asked beside the delivery.
          await store.backlog()
          return status
        }
        const statuses = []
        for (const id of ['m1', 'm2', 'm3', 'm4', 'm5', 'm6']) statuses.push(await next(id))
        assert.deepEqual(statuses, [202, 202, 202, 202, 503, 503])
        assert.equal((await totals(store)).receipts, 4)
        for (const record of await claim(store, clock.now()))
          await store.plan(planFor({ outbox: record.outbox, receipt: plansOf([record])[0]!.receipt.id }))
        assert.deepEqual([await next('m5'), await next('m5'), await next('m6')], [503, 202, 202])
      },
      { backlogLimit: 3 },
    ))

  test('is accepted, then a duplicate, then a conflict when its content differs; an unknown type is quarantined', () =>
    onStore(async ({ store, send }) => {
      const first = await send(standardRequest('msg_1', now, paid))
      assert.deepEqual([first.status, first.outcome], [202, 'accepted'])
      // Another spelling of the same content, signed by the sender itself (C14).
      const again = await send(standardRequest('msg_1', now + 5, JSON.stringify(JSON.parse(paid), null, 2)))
      assert.deepEqual(again, { status: 200, outcome: 'duplicate', receipt: first.receipt! })
      const other = await send(standardRequest('msg_1', now, paid.replace('in_1', 'in_2')))
      assert.deepEqual(
        [other.status, other.outcome, other.reason, other.first],
        [202, 'conflict', 'identity-conflict', first.receipt],
      )
      assert.notEqual(other.receipt, first.receipt)
      const unknown = await send(standardRequest('msg_2', now, '{"type":"invoice.voided"}'))
      assert.deepEqual(
        [unknown.status, unknown.outcome, unknown.reason],
        [202, 'quarantined', 'unsupported-type'],
      )
      assert.deepEqual(await totals(store), { receipts: 3, duplicates: 1, waiting: 3, quarantine: 2 })
    }))

  test('that was tampered with leaves no row', () =>
    onStore(async ({ store, send }) => {
      for (const instead of [
        `${paid}\n`,
        `\ufeff${paid}`,
        paid.replace('in_1', 'in_2'),
        '',
        JSON.stringify(JSON.parse(paid), null, 2),
      ]) {
        assert.equal((await send(standardRequest('msg_1', now, paid, { instead }))).status, 401)
      }
      assert.deepEqual(await totals(store), { receipts: 0, duplicates: 0, waiting: 0, quarantine: 0 })
    }))

  test('C05: an unknown type a hundred times is one receipt in quarantine and one alert, 202 every time', () =>
    onStore(async ({ store, send }) => {
      const answers = new Set<string>()
      for (let index = 0; index < 100; index++) {
        answers.add(JSON.stringify(await send(standardRequest('msg_1', now, '{"type":"who.knows"}'))))
      }
      assert.equal(answers.size, 1)
      assert.match([...answers][0]!, /"status":202.*"quarantined".*"unsupported-type"/)
      // What waits in the outbox is the alert.
      assert.deepEqual(await totals(store), { receipts: 1, duplicates: 99, waiting: 1, quarantine: 1 })
    }))

  test('C15: marks and line ends are bytes like any other: verified as sent, then read by rule, never altered', () =>
    onStore(async ({ send, store }) => {
      const bodies: [string, string | Uint8Array<ArrayBuffer>, number, string][] = [
        ['crlf', paid.replaceAll(',', ',\r\n'), 202, 'accepted'],
        ['newline', `${paid}\n`, 202, 'accepted'],
        ['mark', `\ufeff${paid}`, 400, 'syntax_invalid'],
        ['utf16', Buffer.from(paid, 'utf16le'), 400, 'syntax_invalid'],
        ['latin1', Buffer.from('{"type":"\xfc"}', 'latin1'), 400, 'syntax_invalid'],
        ['surrogate', '{"type":"invoice.paid","data":"\\ud800"}', 202, 'not-representable'],
        // C19: stored like anything else.
        ['nul', '{"type":"invoice.paid","data":"\\u0000"}', 202, 'accepted'],
      ]
      for (const [id, body, status, told] of bodies) {
        const { status: got, outcome, reason, code } = await send(standardRequest(id, now, body))
        assert.deepEqual([got, reason ?? code ?? outcome], [status, told], id)
      }
      const [receipt] = (await store.listReceipts({ limit: 50 })).filter((one) => one.eventId === 'crlf')
      const sealed = await store.readVault(receipt!.vault)
      assert.equal(Buffer.from(vault.open(sealed!, receipt!.id)).toString(), paid.replaceAll(',', ',\r\n'))
    }))

  test('C16: old and new secret, and several signatures, in either place', () => {
    const other = Buffer.from('another key that only tests know')
    const both = producer(
      'both',
      standardWebhooks({ secrets: [`whsec_${other.toString('base64')}`, standardSecret] }),
    )
    const two = producer('two', stripe({ secrets: [stripeSecret, 'whsec_other'] }))
    return onStore(
      async ({ send }) => {
        for (const [index, key] of [other, undefined].entries()) {
          const headers = standardHeaders(`msg_${index}`, now, paid, key)
          assert.equal(
            (await send(standardRequest(`msg_${index}`, now, paid, { path: 'both', headers }))).status,
            202,
          )
        }
        const own = standardHeaders('msg_3', now, paid)
        for (const [index, list] of [
          `v1,AAAA ${own['webhook-signature']}`,
          `${own['webhook-signature']} v1,AAAA`,
        ].entries()) {
          const headers = { 'webhook-signature': list }
          const { status } = await send(standardRequest('msg_3', now, paid, { headers }))
          assert.equal(status, index === 0 ? 202 : 200)
        }
        const body = JSON.stringify({ id: 'evt_1', type: 'invoice.paid' })
        for (const secret of ['whsec_other', stripeSecret]) {
          const headers = stripeHeaders(now, body, secret)
          assert.ok((await send(stripeRequest(now, body, { path: 'two', headers }))).status <= 202)
        }
      },
      {
        producers: [both, two],
        types: [both.event('invoice.paid'), two.event('invoice.paid'), standard.event('invoice.paid')],
      },
    )
  })

  test('C17: a clock that is some minutes off is tolerated in both directions, ten minutes are not', () =>
    onStore(async ({ send }) => {
      for (const minutes of [-10, -4, 4, 10]) {
        const { status } = await send(standardRequest(`msg_${minutes}`, now + minutes * 60, paid))
        assert.equal(status, Math.abs(minutes) > 5 ? 401 : 202, String(minutes))
      }
    }))

  test('C18: one signed body under a fresh unsigned id is told as the same content', () =>
    onStore(async ({ send, intake }) => {
      const first = await send(gitHubRequest('guid-1', 'push', '{"ref":"main"}'))
      const replay = await send(gitHubRequest('guid-2', 'push', '{"ref":"main"}'))
      assert.deepEqual(
        [replay.status, replay.outcome, replay.sameContentAs],
        [202, 'accepted', first.receipt],
      )
      assert.ok(intake.log.some(({ fields }) => fields.sameContentAs === first.receipt))
    }))

  test('C20: two ids beyond 2^53 are two contents, and wait in quarantine where a double would change one', () =>
    onStore(async ({ send, store }) => {
      for (const id of ['9007199254740993', '9007199254740995']) {
        const { status, reason } = await send(gitHubRequest(`guid-${id}`, 'push', `{"id":${id}}`))
        assert.deepEqual([status, reason], [202, 'not-representable'])
      }
      const receipts = await store.listReceipts({ limit: 10 })
      assert.equal(new Set(receipts.map(({ fingerprint }) => fingerprint)).size, 2)
      assert.ok(receipts.every(({ sameContentAs }) => sameContentAs === null))
    }))

  test('C21: hostile payloads have a stated outcome each', async () => {
    const large = producer('large', standardWebhooks({ secrets: standardSecret }), {
      maxBytes: 16 * 1_048_576,
    })
    await onStore(
      async ({ send, intake }) => {
        const cases: [string, string, number, string][] = [
          ['twice', '{"type":"invoice.paid","type":"invoice.paid"}', 202, 'not-representable'],
          ['proto', '{"type":"invoice.paid","data":{"__proto__":{"admin":true}}}', 202, 'accepted'],
          [
            'deep',
            `{"type":"invoice.paid","data":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
            202,
            'not-representable',
          ],
          ['unclosed', '['.repeat(100_000), 400, 'syntax_invalid'],
          ['exponent', '{"type":"invoice.paid","data":1e999999999}', 202, 'not-representable'],
        ]
        for (const [id, body, status, told] of cases) {
          const { status: got, outcome, reason, code } = await send(standardRequest(id, now, body))
          assert.deepEqual([got, reason ?? code ?? outcome], [status, told], id)
        }
        const text = JSON.stringify({ type: 'invoice.paid', data: 'x'.repeat(10_000_000) })
        assert.equal((await send(standardRequest('long', now, text))).status, 413)
        assert.equal((await send(standardRequest('long', now, text, { path: 'large' }))).status, 202)
        const headers = { ...standardHeaders('bomb', now, ''), 'content-encoding': 'gzip' }
        const bomb = streamedRequest('standard', headers, [gzipSync(Buffer.alloc(200_000_000))])
        assert.equal((await intake.receive(bomb.request)).status, 413)
      },
      { producers: [large], types: [large.event('invoice.paid'), standard.event('invoice.paid')] },
    )
    assert.equal(({} as Record<string, unknown>).admin, undefined)
  })

  test('C28: sixty-four copies at once are one receipt and sixty-three duplicates', () =>
    onStore(async ({ send, store }) => {
      const answers = await Promise.all(
        Array.from({ length: 64 }, () => send(standardRequest('msg_1', now, paid))),
      )
      assert.equal(answers.filter(({ outcome }) => outcome === 'accepted').length, 1)
      assert.equal(
        answers.filter(({ outcome, status }) => outcome === 'duplicate' && status === 200).length,
        63,
      )
      assert.equal(new Set(answers.map(({ receipt }) => receipt)).size, 1)
      assert.deepEqual(await totals(store), { receipts: 1, duplicates: 63, waiting: 1, quarantine: 0 })
    }))

  test('what Stripe changes between tries is no other content', () =>
    onStore(async ({ send }) => {
      const body = (pending: number) =>
        JSON.stringify({ id: 'evt_1', type: 'invoice.paid', pending_webhooks: pending, data: { object: {} } })
      assert.equal((await send(stripeRequest(now, body(2)))).outcome, 'accepted')
      assert.equal((await send(stripeRequest(now + 9, body(1)))).outcome, 'duplicate')
    }))

  test('without an open store: 503, and the same delivery is accepted once it is there', () =>
    onStore(async ({ send, store }) => {
      await store.close()
      assert.deepEqual((await send(standardRequest('msg_1', now, paid))).status, 503)
      await store.open({ migrate: true })
      assert.deepEqual((await send(standardRequest('msg_1', now, paid))).outcome, 'accepted')
    }))
})

describe('a stored payload is opened again for the planner', () => {
  const schema = z.object({ id: z.string(), plan: z.string().default('pro') })
  const types = [
    standard.event('invoice.paid', { schema }),
    hub.event('push'),
    payments.event('invoice.paid', { version: '2025' }),
  ]
  const producers = new Map([standard, hub, payments].map((one) => [one.name, one]))

  test('as the same event that intake would hand on', () =>
    onStore(
      async ({ send, store }) => {
        await send(standardRequest('msg_1', now, paid))
        const headers = { 'content-type': 'application/x-www-form-urlencoded' }
        await send(
          gitHubRequest('guid-1', 'push', `payload=${encodeURIComponent('{"ref":"ü"}')}`, { headers }),
        )
        await send(
          stripeRequest(
            now,
            JSON.stringify({
              id: 'evt_1',
              type: 'invoice.paid',
              api_version: '2025',
              data: { object: { a: 1 } },
            }),
          ),
        )
        const read: Record<string, unknown> = {}
        for (const receipt of await store.listReceipts({ limit: 10 })) {
          const payload = vault.open((await store.readVault(receipt.vault))!, receipt.id)
          const opened = await readEvent(producers, eventTypes(types), receipt, payload)
          assert.ok(opened.kind === 'event')
          const { type, version, data, fingerprint, at } = opened.event
          assert.equal(fingerprint, receipt.fingerprint)
          read[opened.event.id] = { type, version, data, at }
        }
        assert.deepEqual(read, {
          msg_1: { type: 'invoice.paid', version: null, data: { id: 'in_1', plan: 'pro' }, at: now * 1000 },
          'guid-1': { type: 'push', version: null, data: { ref: 'ü' }, at: null },
          evt_1: { type: 'invoice.paid', version: '2025', data: { a: 1 }, at: null },
        })
      },
      { types },
    ))

  test('with the subscriptions and schemas of today', () =>
    onStore(async ({ send, store }) => {
      await send(standardRequest('msg_1', now, paid))
      const [receipt] = await store.listReceipts({ limit: 1 })
      const today = async (known: Parameters<typeof eventTypes>[0], of = producers) =>
        await readEvent(of, eventTypes(known), receipt!, Buffer.from(paid))
      const stricter = await today([standard.event('invoice.paid', { schema: z.object({ id: z.number() }) })])
      assert.ok(stricter.kind === 'quarantine' && stricter.reason === 'schema-failure')
      const gone = await today([])
      assert.ok(gone.kind === 'quarantine' && gone.reason === 'unsupported-type')
      const nobody = await today([], new Map())
      assert.ok(nobody.kind === 'quarantine' && nobody.reason === 'unsupported-type')
      assert.equal(nobody.detail.producer, 'standard is not configured')
    }))
})
