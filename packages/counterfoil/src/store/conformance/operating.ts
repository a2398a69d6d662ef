import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { EffectId } from '../../domain/index.ts'
import type { EffectView } from '../records.ts'
import type { EffectDecision, Store } from '../store.ts'
import {
  accepted,
  begun,
  delivery,
  effectOf,
  type MakeStore,
  newAudit,
  on,
  plannedEffect,
  rejects,
  settled,
  settlement,
  start,
  unfit,
  unknownEffect,
} from './given.ts'

/** What operators look for, what they see of the whole, and what they decide on effects. */
export function operating(make: MakeStore): void {
  searching(make)
  surveying(make)
  deciding(make)
}

function searching(make: MakeStore): void {
  const names = async (store: Store, text: string, limit = 10) => {
    const { receipts, effects, quarantine } = await store.search({ text, limit })
    return [
      ...receipts.map(({ by, id }) => [by, id]),
      ...effects.map(({ by, id }) => [by, id]),
      ...quarantine.map(({ id }) => ['entry', id]),
    ]
  }

  it(
    'receipts are found by their id and event id, whole or by their beginning, and as they are listed',
    on(make, async (store) => {
      const { receipt } = await accepted(store, { event: 'evt_search_1' })
      await accepted(store, { event: 'evt_searched' })
      assert.deepEqual(await names(store, receipt), [['id', receipt]])
      assert.deepEqual(await names(store, 'evt_search_'), [['event-id', receipt]])
      assert.equal((await names(store, 'evt_search')).length, 2)
      assert.equal((await names(store, 'evt_search', 1)).length, 1)
      assert.deepEqual(await names(store, 'vt_search_1'), [])
      const { by: _, ...view } = (await store.search({ text: receipt, limit: 5 })).receipts[0]!
      assert.deepEqual(view, (await store.showReceipt(receipt))?.receipt)
    }),
  )

  it(
    'a conflicting receipt is found by the event id it shares, and an entry by its own id',
    on(make, async (store) => {
      const { receipt } = await accepted(store, { event: 'evt_twice' })
      const conflict = await store.accept(delivery({ event: 'evt_twice', body: 'another' }))
      assert.equal(conflict.outcome, 'conflict')
      assert.deepEqual(await names(store, 'evt_twice'), [
        ['event-id', receipt],
        ['event-id', conflict.receipt],
      ])
      const unsupported = await store.accept(unfit('unsupported-type'))
      const { quarantine } = unsupported as { quarantine: string }
      assert.deepEqual(await names(store, quarantine), [['entry', quarantine]])
    }),
  )

  it(
    "effects are found by id, key, idempotency key, the recipient's own id and fingerprint",
    on(make, async (store) => {
      const work = await begun(store, { key: 'invoice/481/collect' })
      await settled(store, settlement(work, { to: 'confirmed' }))
      const { id, idempotencyKey, fingerprint } = work.effect
      const other = await plannedEffect(store, { key: 'invoice/481/mail', payload: 'another' })
      assert.deepEqual(await names(store, id), [['id', id]])
      assert.deepEqual(await names(store, 'invoice/481/c'), [['key', id]])
      assert.deepEqual(await names(store, 'invoice/481/'), [
        ['key', id],
        ['key', other.id],
      ])
      assert.deepEqual(await names(store, idempotencyKey), [['idempotency-key', id]])
      assert.deepEqual(await names(store, 'req_1'), [['correlation', id]])
      assert.deepEqual(await names(store, fingerprint), [['fingerprint', id]])
      const { by: _, ...view } = (await store.search({ text: id, limit: 5 })).effects[0]!
      assert.deepEqual(view, await effectOf(store, id))
    }),
  )

  it(
    'effects are walked by the beginning of their key, at every recipient, a page at a time',
    on(make, async (store) => {
      const keys = ['customer/42/a', 'customer/42/b', 'customer/42/ü', 'customer/4', 'customer/43/a']
      for (const key of keys) await plannedEffect(store, { key })
      await plannedEffect(store, { key: 'customer/42/a', recipient: 'mail' })
      const walked: string[] = []
      for (let after: { key: string; recipient: string } | undefined; ; ) {
        const query = { prefix: 'customer/42/', limit: 2, ...(after === undefined ? {} : { after }) }
        const effects = await store.listEffectsByKey(query)
        walked.push(...effects.map(({ key, recipient }) => `${key} ${recipient}`))
        after = effects.at(-1)
        if (after === undefined) break
      }
      assert.deepEqual(walked, [
        'customer/42/a bank',
        'customer/42/a mail',
        'customer/42/b bank',
        'customer/42/ü bank',
      ])
      const [first] = await store.listEffectsByKey({ prefix: 'customer/42/', limit: 1 })
      assert.deepEqual(first, await effectOf(store, first!.id))
    }),
  )

  it(
    "the recipient's own id is found in evidence too",
    on(make, async (store) => {
      const effect = await unknownEffect(store)
      await store.settle(
        found(effect, { to: 'confirmed', evidence: { ...evidence(effect), correlation: 'op_9' } }),
      )
      assert.deepEqual(await names(store, 'op_9'), [['correlation', effect.id]])
    }),
  )

  it(
    'a fingerprint is found by its first 8 digits, with and without its kind, and by no fewer',
    on(make, async (store) => {
      const entry = delivery({ body: 'printed' })
      await store.accept(entry)
      const { fingerprint, id } = entry.receipt
      const digits = fingerprint.slice('raw-sha256:'.length)
      for (const text of [
        fingerprint,
        digits,
        digits.slice(0, 8),
        digits.slice(0, 9),
        fingerprint.slice(0, 20),
      ]) {
        assert.deepEqual(await names(store, text), [['fingerprint', id]], text)
      }
      for (const text of [digits.slice(0, 7), `jcs-sha256:${digits}`, digits.slice(1)]) {
        assert.deepEqual(await names(store, text), [], text)
      }
    }),
  )

  it(
    'what no index holds is not found, and is no fault',
    on(make, async (store) => {
      await accepted(store)
      for (const text of ['%', '_', "'", '\0', '\u{10ffff}', 'größe 🧾', 'x'.repeat(512)]) {
        assert.deepEqual(await names(store, text), [], JSON.stringify(text))
      }
    }),
  )
}

function surveying(make: MakeStore): void {
  it(
    'a survey tells what is open of each recipient, since when, and how its newest attempts ended',
    on(make, async (store) => {
      const early = await begun(store, { at: start })
      await settled(store, settlement(early, { to: 'confirmed', at: start + 5_000 }))
      await plannedEffect(store, { at: start + 9_000 })
      await plannedEffect(store, { at: start + 7_000 })
      const unknown = await unknownEffect(store, { recipient: 'mail' })
      const { quarantineSince, recipients } = await store.survey({
        recipients: ['bank', 'mail', 'nobody'],
        recent: 10,
      })
      assert.equal(quarantineSince, null)
      assert.deepEqual(
        recipients.map(({ recipient }) => recipient),
        ['bank', 'mail', 'nobody'],
      )
      const [bank, mail, nobody] = recipients
      assert.equal(bank?.open.planned.count, 2)
      assert.ok([start + 7_000, start + 9_000].includes(bank?.open.planned.oldestAt ?? 0))
      assert.deepEqual(bank?.recent, { ...none, confirmed: 1 })
      assert.equal(bank?.lastConfirmedAt, start + 5_000)
      assert.deepEqual(mail?.open.unknown, { count: 1, oldestAt: unknown.plannedAt })
      assert.deepEqual([mail?.recent, mail?.lastConfirmedAt], [{ ...none, unknown: 1 }, null])
      assert.deepEqual([nobody?.recent, nobody?.open.attempting], [none, { count: 0, oldestAt: null }])
    }),
  )

  it(
    'a survey looks at the newest effects only, and knows since when the oldest entry waits',
    on(make, async (store) => {
      await settled(store, settlement(await begun(store), { to: 'refused' }))
      await settled(store, settlement(await begun(store), { to: 'confirmed' }))
      await store.accept(unfit('unsupported-type', { at: start + 1 }))
      await store.accept(unfit('unsupported-type', { at: start + 2 }))
      const { recipients, quarantineSince } = await store.survey({ recipients: ['bank'], recent: 1 })
      assert.deepEqual(recipients[0]?.recent, { ...none, confirmed: 1 })
      assert.equal(quarantineSince, start + 1)
    }),
  )

  it(
    'the first sample of a minute stays, and those that are too old go',
    on(make, async (store) => {
      const keep = (minute: number, receipts: number, oldest = 0) =>
        store.keepSample({ minute, totals: { receipts }, oldest })
      await keep(10, 1)
      await keep(11, 2)
      await keep(11, 3)
      assert.deepEqual(await store.listSamples(1), [
        { minute: 10, totals: { receipts: 1 } },
        { minute: 11, totals: { receipts: 2 } },
      ])
      await keep(12, 4, 11)
      assert.deepEqual(
        (await store.listSamples(1)).map(({ minute }) => minute),
        [11, 12],
      )
      assert.deepEqual(await store.listSamples(12), [{ minute: 12, totals: { receipts: 4 } }])
    }),
  )

  it(
    'a probe is written, and is no sample',
    on(make, async (store) => {
      await store.probe(start)
      await store.probe(start + 1)
      assert.deepEqual(await store.listSamples(1), [])
      await store.keepSample({ minute: 10, totals: {}, oldest: 5 })
      assert.deepEqual((await store.listSamples(1)).length, 1)
      await store.close()
      await rejects(store.probe(start), 'store_closed')
    }),
  )

  it(
    'totals count the effects of every final state',
    on(make, async (store) => {
      for (const to of ['confirmed', 'refused', 'fenced', 'refused'] as const) {
        await settled(store, settlement(await begun(store), { to }))
      }
      const { byState, total } = (await store.status()).effects
      assert.deepEqual([byState.confirmed, byState.refused, byState.fenced, total], [1, 2, 1, 4])
    }),
  )
}

function deciding(make: MakeStore): void {
  const decision = (effect: EffectView, more: Partial<EffectDecision> = {}): EffectDecision => ({
    audit: newAudit({ act: 'effects.confirm', subject: effect.id }),
    effect: effect.id,
    expectedVersion: effect.version,
    settlement: found(effect, { to: 'confirmed' }),
    ...more,
  })

  it(
    'a decision moves an effect and is audited in one transaction; the same again changes nothing',
    on(make, async (store) => {
      const effect = await unknownEffect(store)
      const given = decision(effect)
      const decided = await store.decideEffect(given)
      assert.ok(decided.kind === 'decided' && !decided.repeated)
      assert.deepEqual(decided.record.result, {
        from: 'unknown',
        to: 'confirmed',
        version: effect.version + 1,
      })
      const after = await effectOf(store, effect.id)
      assert.deepEqual([after.state, after.version, after.dueAt], ['confirmed', effect.version + 1, null])
      assert.deepEqual([after.evidence.at(-1)?.kind, after.evidence.at(-1)?.by], ['operator', 'dana'])
      const again = await store.decideEffect(given)
      assert.deepEqual(again, { kind: 'decided', record: decided.record, repeated: true })
      assert.deepEqual(await effectOf(store, effect.id), after)
      assert.equal((await store.status()).effects.byState.confirmed, 1)
      assert.deepEqual(await store.listAudit({ subject: effect.id, limit: 5 }), [decided.record])
    }),
  )

  it(
    'a decision on an outdated view writes nothing, and says how the effect is now',
    on(make, async (store) => {
      const effect = await unknownEffect(store)
      const stale = await store.decideEffect(decision(effect, { expectedVersion: effect.version - 1 }))
      assert.deepEqual(stale, { kind: 'stale', current: effect })
      assert.deepEqual(await store.listAudit({ limit: 5 }), [])
      assert.deepEqual(await effectOf(store, effect.id), effect)
    }),
  )

  it(
    'under an id that another decision has, nothing is written',
    on(make, async (store) => {
      const effect = await unknownEffect(store)
      const taken = newAudit({ decision: 'taken' })
      await store.audit({ ...taken, result: {} })
      const other = await store.decideEffect(
        decision(effect, { audit: newAudit({ decision: 'taken', subject: effect.id }) }),
      )
      assert.equal(other.kind, 'other')
      assert.deepEqual(await effectOf(store, effect.id), effect)
    }),
  )

  it(
    'of two decisions at once on one view, one is made',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      const effect = await unknownEffect(store)
      const answers = await Promise.all([
        store.decideEffect(decision(effect)),
        other.decideEffect(decision(effect, { settlement: found(effect, { to: 'refused' }) })),
      ])
      assert.deepEqual(answers.map(({ kind }) => kind).sort(), ['decided', 'stale'])
      assert.equal((await store.listAudit({ limit: 5 })).length, 1)
    }),
  )

  it(
    'without a settlement only the row is written, and the effect has to be as it was seen',
    on(make, async (store) => {
      const effect = await unknownEffect(store)
      const asked = await store.decideEffect(decision(effect, { settlement: null }))
      assert.ok(asked.kind === 'decided')
      assert.deepEqual(asked.record.result, { from: 'unknown', to: 'unknown', version: effect.version })
      assert.deepEqual(await effectOf(store, effect.id), effect)
      const late = await store.decideEffect(decision(effect, { settlement: null, expectedVersion: 99 }))
      assert.equal(late.kind, 'stale')
      const nobody = { ...effect, id: 'eff_none' as EffectId }
      await rejects(store.decideEffect(decision(nobody)), 'not_found')
    }),
  )

  it(
    'the sealed request of an effect is read by its id',
    on(make, async (store) => {
      const { effect, request } = await begun(store)
      assert.deepEqual(await store.readRequest(effect.id), request)
      assert.equal(await store.readRequest('eff_none'), null)
    }),
  )

  it(
    'what was done to one record is listed by itself, newest first, page by page',
    on(make, async (store) => {
      for (const [subject, decision] of [
        ['eff_1', 'a'],
        ['eff_2', 'b'],
        ['eff_1', 'c'],
      ]) {
        await store.audit({ ...newAudit({ subject: subject!, decision: decision! }), result: {} })
      }
      const list = async (query: object) =>
        (await store.listAudit({ subject: 'eff_1', limit: 9, ...query })).map((row) => row.decision)
      assert.deepEqual(await list({}), ['c', 'a'])
      assert.deepEqual(await list({ limit: 1 }), ['c'])
      assert.deepEqual(await list({ before: 3 }), ['a'])
    }),
  )
}

const none = { confirmed: 0, refused: 0, fenced: 0, notActed: 0, unknown: 0 }

function evidence({ state }: EffectView) {
  return {
    kind: 'operator',
    fact: 'operatorConfirmed',
    attempt: null,
    from: state,
    why: 'seen at the bank',
    status: null,
    correlation: null,
    by: 'dana',
  } as const
}

/** What an operator found out of an unknown effect. */
function found(effect: EffectView, change: Parameters<typeof settlement>[1]) {
  const { attempt: _, ...rest } = settlement({ effect, attempt: 1 }, change)
  return { ...rest, closeAttempts: true, evidence: evidence(effect), ...change }
}
