import { createHash } from 'node:crypto'
import type { Counterfoil } from '../counterfoil.ts'
import {
  CounterfoilError,
  type EffectId,
  isFinalState,
  isPointer,
  type ReceiptId,
  readPointer,
} from '../domain/index.ts'
import { giveWay } from '../engine/index.ts'
import type { AuditRecord, ReceiptView } from '../store/index.ts'
import { type Act, auditRow, idUsed } from './decision.ts'
import { authorise, type Operator } from './operator.ts'

/** Whose payloads: of effects whose key begins so, or of receipts whose JSON payload has this value at this place. */
export type ErasureQuery =
  | { readonly keyPrefix: string }
  | {
      /** JSON Pointer (RFC 6901). */
      readonly pointer: string
      /** A text as it is; a number or a truth as JSON writes it. */
      readonly equals: string
      /** Default: of every producer, which looks into every payload that is kept. */
      readonly producer?: string
    }

export interface ErasurePlan {
  readonly receipts: number
  readonly effects: number
  /** Among them: not done with yet, so that a run leaves them. */
  readonly open: number
  /** What the run is bound to: these records and none that comes later. */
  readonly digest: string
}

export interface ErasureRun {
  /** `more`: the same call goes on. `proposed`: it waits for another approver to ask for the same. */
  readonly state: 'done' | 'more' | 'proposed'
  readonly payloads: number
  readonly requests: number
  /** Left, because they are not done with: an effect that is not final still needs its request. */
  readonly open: number
}

/** Records in one transaction, so that live work waits for none of them long. */
const batch = 50
const page = 200
/** Longest prefix and value, in characters. */
const maxText = 500

/** Where a walk goes on: after this receipt; or after this key at this recipient. */
type Place = readonly [name: string, recipient?: string]

interface Match {
  readonly kind: 'receipt' | 'effect'
  readonly id: string
  readonly done: boolean
  readonly place: Place
}

type Totals = Pick<ErasureRun, 'payloads' | 'requests' | 'open'>
const nothing: Totals = { payloads: 0, requests: 0, open: 0 }

/** What a run would erase. Changes nothing. @throws CounterfoilError `not_authorised`, `decision_invalid`, `vault_*` */
export async function planErasure(
  app: Counterfoil,
  operator: Operator,
  query: ErasureQuery,
): Promise<ErasurePlan> {
  authorise(operator, 'retention.erase-plan')
  check(query)
  return await survey(app, query, null)
}

/**
 * Destroys payloads and requests of what a plan found, in small batches that give way to live work; evidence stays.
 * Each batch is a part of the decision in the audit log, which holds neither the prefix nor the value: the same call
 * goes on after a crash.
 *
 * @param about.maxBatches where to stop for now
 * @throws CounterfoilError `not_authorised`, `decision_*`, `selection_changed`, `vault_*`
 */
export async function runErasure(
  app: Counterfoil,
  query: ErasureQuery,
  digest: string,
  act: Act,
  about: { readonly maxBatches?: number; readonly onProgress?: (totals: Totals) => void } = {},
): Promise<ErasureRun> {
  authorise(act.operator, 'retention.erase-many')
  check(query)
  const [, through = ''] = /^(none|(?:rcp|eff)_\w{26})~[0-9a-f]{64}$/.exec(digest) ?? []
  if (through === '') {
    throw new CounterfoilError('decision_invalid', 'The digest is not one of a plan.', {
      hint: 'Plan it with the same query first, and give the digest that it prints.',
    })
  }
  const rowOf = (decision: string, detail: AuditRecord['detail']) => ({
    ...auditRow(act, 'retention.erase-many', { subject: digest, at: app.clock.now(), detail }),
    decision,
  })
  const [last] = await app.store.listAudit({ partsOf: act.decision, limit: 1 })
  if (last === undefined) {
    const plan = await survey(app, query, through)
    if (plan.digest !== digest) {
      throw new CounterfoilError('selection_changed', 'The query finds other records than it did.', {
        hint: 'Plan it again, look at it, and give its digest under a new decision id.',
      })
    }
    const { many: limit = Number.POSITIVE_INFINITY } = app.twoPersons
    if (plan.receipts + plan.effects > limit && !(await isSeconded(app, digest, act))) {
      await propose(app, digest, act)
      return { state: 'proposed', ...nothing }
    }
  }
  const begun = await app.store.audit({ ...rowOf(act.decision, {}), result: {} })
  if (begun.kind === 'other') throw idUsed(begun.existing)
  let { part, after, totals } =
    last === undefined ? { part: 0, after: undefined, totals: nothing } : placeAfter(last)
  const erase = async (chosen: readonly Match[]): Promise<void> => {
    const { place } = chosen.at(-1)!
    const decision = `${act.decision}/${String(part + 1).padStart(6, '0')}`
    const of = (kind: Match['kind']) => chosen.filter((one) => one.kind === kind).map(({ id }) => id)
    const erased = await app.store.erase({
      audit: rowOf(decision, { place, before: totals }),
      receipts: of('receipt') as ReceiptId[],
      effects: of('effect') as EffectId[],
    })
    if (erased.kind === 'other') throw idUsed(erased.existing)
    if (erased.kind === 'erased') {
      part++
      totals = {
        ...totals,
        payloads: totals.payloads + erased.payloads,
        requests: totals.requests + erased.requests,
      }
    } else if (chosen.length === 1) totals = { ...totals, open: totals.open + 1 }
    else for (const one of chosen) await erase([one])
  }
  const { maxBatches = Number.POSITIVE_INFINITY, onProgress } = about
  let batches = 0
  for await (const chosen of inBatches(matches(app, query, through, after))) {
    if (batches++ >= maxBatches) return { state: 'more', ...totals }
    await erase(chosen)
    onProgress?.(totals)
    await giveWay(app)
  }
  return { state: 'done', ...totals }
}

/** Another person has asked for the same records to be erased. */
async function isSeconded(app: Counterfoil, digest: string, { operator }: Act): Promise<boolean> {
  const rows = await app.store.listAudit({ subject: digest, limit: 100 })
  return rows.some((row) => row.act === 'retention.propose-erase-many' && row.operator !== operator.name)
}

async function propose(app: Counterfoil, digest: string, act: Act): Promise<void> {
  const row = auditRow(act, 'retention.propose-erase-many', { subject: digest, at: app.clock.now() })
  const audited = await app.store.audit({ ...row, result: {} })
  if (audited.kind === 'other') throw idUsed(audited.existing)
}

/** @throws CounterfoilError `decision_invalid` */
function check(query: ErasureQuery): void {
  const texts = 'keyPrefix' in query ? [query.keyPrefix] : [query.pointer, query.equals]
  const fits = texts.every((text) => text.length >= 1 && text.length <= maxText)
  if (fits && ('keyPrefix' in query || isPointer(query.pointer))) return
  throw new CounterfoilError('decision_invalid', 'The query says nothing that can be looked for.', {
    hint: `Give a prefix of effect keys, or a JSON Pointer such as /customer/email and its value; 1 to ${maxText} characters each.`,
  })
}

/** @param bound the newest record that counts; null: the newest that is found */
async function survey(app: Counterfoil, query: ErasureQuery, bound: string | null): Promise<ErasurePlan> {
  const counts = { receipt: 0, effect: 0, open: 0 }
  const hash = createHash('sha256').update(`${'keyPrefix' in query ? 'key' : 'payload'}\n`)
  let newest = 'none'
  for await (const { kind, id, done } of matches(app, query, bound ?? undefined)) {
    counts[kind]++
    if (!done) counts.open++
    if (newest === 'none' || id > newest) newest = id
    hash.update(`${id}\n`)
  }
  const { receipt: receipts, effect: effects, open } = counts
  return { receipts, effects, open, digest: `${newest}~${hash.digest('hex')}` }
}

/** Ids rise with time: what came after `through` is none of it. */
async function* matches(
  app: Counterfoil,
  query: ErasureQuery,
  through?: string,
  after?: Place,
): AsyncGenerator<Match> {
  if (through === 'none') return
  const walk = 'keyPrefix' in query ? byKey(app, query.keyPrefix, after) : byPayload(app, query, after)
  for await (const match of walk) if (through === undefined || match.id <= through) yield match
}

async function* byKey({ store }: Counterfoil, prefix: string, from?: Place): AsyncGenerator<Match> {
  for (let after = from; ; ) {
    const effects = await store.listEffectsByKey({
      prefix,
      ...(after === undefined ? {} : { after: { key: after[0], recipient: after[1] ?? '' } }),
      limit: page,
    })
    for (const { id, key, recipient, state } of effects) {
      yield { kind: 'effect', id, done: isFinalState(state), place: [key, recipient] }
    }
    const end = effects.at(-1)
    if (end === undefined || effects.length < page) return
    after = [end.key, end.recipient]
  }
}

/** Newest first. What has no payload any more is passed over. */
async function* byPayload(
  app: Counterfoil,
  { pointer, equals, producer }: Exclude<ErasureQuery, { keyPrefix: string }>,
  from?: Place,
): AsyncGenerator<Match> {
  for (let before = from?.[0]; ; ) {
    const query = { limit: page, ...(before === undefined ? {} : { before }) }
    const receipts = await app.store.listReceipts(producer === undefined ? query : { ...query, producer })
    for (const receipt of receipts) {
      if (await holds(app, receipt, pointer, equals)) {
        yield { kind: 'receipt', id: receipt.id, done: await isDone(app, receipt), place: [receipt.id] }
      }
    }
    const end = receipts.at(-1)
    if (end === undefined || receipts.length < page) return
    before = end.id
    await giveWay(app)
  }
}

async function holds(
  app: Counterfoil,
  receipt: ReceiptView,
  pointer: string,
  equals: string,
): Promise<boolean> {
  const payload = await app.readPayload(receipt)
  if (payload === null) return false
  const found = readPointer(parsed(payload), pointer)
  return found === equals || (typeof found !== 'object' && found !== undefined && String(found) === equals)
}

/** As most programs read it: what waits in quarantine for its faults is looked into too. */
function parsed(payload: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(payload).toString())
  } catch {
    return undefined
  }
}

async function isDone({ store }: Counterfoil, { id, state }: ReceiptView): Promise<boolean> {
  if (state === 'accepted') return false
  const story = await store.showReceipt(id)
  return (
    story?.quarantine?.state !== 'waiting' &&
    (story?.effects ?? []).every((effect) => isFinalState(effect.state))
  )
}

async function* inBatches(all: AsyncIterable<Match>): AsyncGenerator<readonly Match[]> {
  let gathered: Match[] = []
  for await (const one of all) {
    gathered.push(one)
    if (gathered.length < batch) continue
    yield gathered
    gathered = []
  }
  if (gathered.length > 0) yield gathered
}

/** What a part of the run says of where the next one begins. */
function placeAfter({ decision, detail, result }: AuditRecord) {
  const { place, before } = detail as { place: Place; before: Totals }
  const { payloads, requests } = result as { payloads: number; requests: number }
  return {
    part: Number(decision.slice(decision.lastIndexOf('/') + 1)),
    after: place,
    totals: { ...before, payloads: before.payloads + payloads, requests: before.requests + requests },
  }
}
