import { createHash } from 'node:crypto'
import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError, canonicalize, type JsonValue } from '../domain/index.ts'
import { giveWay } from '../engine/index.ts'
import type {
  AuditRecord,
  QuarantineMove,
  QuarantineQuery,
  QuarantineResult,
  QuarantineView,
} from '../store/index.ts'
import { type Act, auditRow, idUsed } from './decision.ts'
import { authorise, type Operator } from './operator.ts'
import { neverReprocessed, startMove } from './quarantine.ts'

/** What a decision on many entries finds them by. They always wait. */
export type QuarantineFilter = Omit<QuarantineQuery, 'limit' | 'before' | 'after' | 'through' | 'state'>

export interface ManyAct {
  readonly act: 'reprocess' | 'dismiss'
  readonly filter: QuarantineFilter
}

export interface DryRun extends ManyAct {
  /** Entries that the run would decide on. */
  readonly entries: number
  readonly byReason: Readonly<Record<string, number>>
  readonly byProducer: Readonly<Record<string, number>>
  readonly byType: Readonly<Record<string, number>>
  /** Found by the filter, and of a reason that is never reprocessed. */
  readonly never: number
  /** What the run is bound to: the entries as they are now, and none that comes later. */
  readonly digest: string
}

export interface ManyRun extends ManyAct {
  /** `more`: the same call goes on where this one ended. `proposed`: it waits for another approver to ask for the same. */
  readonly state: 'done' | 'more' | 'proposed'
  readonly released: number
  readonly kept: number
  readonly dismissed: number
  /** Changed by somebody since the run began; left alone. */
  readonly stale: number
}

/** Entries in one transaction of a run: few, so that live work waits for none of them long. */
export const manyBatch = 50
const dryRunPage = 500
/** Most names that a dry run counts apart; the rest is `other`. */
const maxCounted = 100

type Totals = Pick<ManyRun, 'released' | 'kept' | 'dismissed' | 'stale'>

/** What a run would decide on. Changes nothing. @throws CounterfoilError `not_authorised` */
export async function dryRunMany(app: Counterfoil, operator: Operator, many: ManyAct): Promise<DryRun> {
  authorise(operator, 'quarantine.dry-run')
  const [newest] = (await app.store.listQuarantine({ ...many.filter, state: 'waiting', limit: 1 })).entries
  return await survey(app, many, newest?.id ?? 'none')
}

/**
 * Decides on many entries, oldest first, in small batches that give way to live work. Bound to the digest of a dry
 * run; each batch is a part of the decision in the audit log, so the same call goes on after a crash.
 *
 * @param about.maxBatches where to stop for now
 * @throws CounterfoilError `not_authorised`, `decision_*`, `selection_changed`
 */
export async function runMany(
  app: Counterfoil,
  many: ManyAct & { readonly digest: string },
  act: Act,
  about: { readonly maxBatches?: number; readonly onProgress?: (totals: Totals) => void } = {},
): Promise<ManyRun> {
  const { filter, digest } = many
  const [, through = ''] = /^(none|qua_\w{26})~[0-9a-f]{64}$/.exec(digest) ?? []
  if (through === '') {
    throw new CounterfoilError('decision_invalid', 'The digest is not one of a dry run.', {
      hint: 'Do a dry run with the same filter first, and give the digest that it prints.',
    })
  }
  const name = `quarantine.${many.act}-many` as const
  authorise(act.operator, name)
  const row = (decision: string, detail: AuditRecord['detail']) => ({
    ...auditRow(act, name, { subject: canonicalize(filter as JsonValue), at: app.clock.now(), detail }),
    decision,
  })
  const [last] = await app.store.listAudit({ partsOf: act.decision, limit: 1 })
  if (last === undefined && (await isAboveLimit(app, many, through)) && !(await isSeconded(app, many, act))) {
    await propose(app, many, act)
    return { ...many, state: 'proposed', ...nothing }
  }
  const begun = await app.store.audit({ ...row(act.decision, { digest }), result: {} })
  if (begun.kind === 'other') throw idUsed(begun.existing)
  if (last === undefined && (await survey(app, many, through)).digest !== digest) {
    throw new CounterfoilError(
      'selection_changed',
      'The filter finds other entries than it did, or others changed.',
      {
        hint: 'Do the dry run again, look at it, and give its digest under a new decision id.',
      },
    )
  }
  let place = last === undefined ? { part: 0, cursor: '', totals: nothing } : placeAfter(last)
  const { maxBatches = Number.POSITIVE_INFINITY, onProgress } = about
  for (let batches = 0; through !== 'none'; batches++) {
    if (batches >= maxBatches) return { ...many, state: 'more', ...place.totals }
    const { entries, next } = await app.store.listQuarantine({
      ...filter,
      state: 'waiting',
      after: place.cursor,
      through,
      limit: manyBatch,
    })
    const cursor: string | undefined = next ?? entries.at(-1)?.id
    if (cursor === undefined) break
    const chosen = entries.filter((entry) => isChosen(many.act, entry))
    const decided = await app.store.decideQuarantine({
      audit: row(`${act.decision}/${String(place.part + 1).padStart(6, '0')}`, {
        cursor,
        before: place.totals,
      }),
      entries: await Promise.all(
        chosen.map(async (entry) => ({
          id: entry.id,
          // What changed since the run began is not what the dry run showed: no entry has the version 0.
          expectedVersion: entry.changedAfter >= begun.record.number ? 0 : entry.version,
          move: await moveOf(app, many.act, entry),
        })),
      ),
      whole: false,
    })
    // Another process goes on with the same decision: follow it.
    if (decided.kind === 'other') place = placeAfter(decided.existing)
    else if (decided.kind === 'decided') {
      place = { part: place.part + 1, cursor, totals: sum(place.totals, decided.results) }
    }
    onProgress?.(place.totals)
    await giveWay(app)
  }
  return { ...many, state: 'done', ...place.totals }
}

/** More entries than one person may decide on. */
async function isAboveLimit(app: Counterfoil, many: ManyAct, through: string): Promise<boolean> {
  const { many: limit } = app.twoPersons
  return limit !== undefined && (await survey(app, many, through)).entries > limit
}

/** Another person has asked for the same run over the same entries. */
async function isSeconded(
  app: Counterfoil,
  { act, filter, digest }: ManyAct & { readonly digest: string },
  { operator }: Act,
): Promise<boolean> {
  const rows = await app.store.listAudit({ subject: canonicalize(filter as JsonValue), limit: 100 })
  return rows.some(
    (row) =>
      row.act === 'quarantine.propose-many' &&
      row.detail.act === act &&
      row.detail.digest === digest &&
      row.operator !== operator.name,
  )
}

async function propose(
  app: Counterfoil,
  { act, filter, digest }: ManyAct & { readonly digest: string },
  given: Act,
): Promise<void> {
  const subject = canonicalize(filter as JsonValue)
  const about = { subject, at: app.clock.now(), detail: { act, digest } }
  const audited = await app.store.audit({ ...auditRow(given, 'quarantine.propose-many', about), result: {} })
  if (audited.kind === 'other') throw idUsed(audited.existing)
}

async function survey(app: Counterfoil, { act, filter }: ManyAct, through: string): Promise<DryRun> {
  const digest = createHash('sha256').update(`${act}\n${canonicalize(filter as JsonValue)}\n${through}\n`)
  const counts = { byReason: new Map(), byProducer: new Map(), byType: new Map() }
  let entries = 0
  let never = 0
  let after = ''
  while (through !== 'none') {
    const page = await app.store.listQuarantine({
      ...filter,
      state: 'waiting',
      after,
      through,
      limit: dryRunPage,
    })
    for (const entry of page.entries) {
      if (!isChosen(act, entry)) {
        never++
        continue
      }
      entries++
      digest.update(`${entry.id} ${entry.version}\n`)
      count(counts.byReason, entry.reason)
      count(counts.byProducer, entry.producer)
      count(counts.byType, entry.type)
    }
    if (page.next === null) break
    after = page.next
  }
  return {
    act,
    filter,
    entries,
    byReason: Object.fromEntries(counts.byReason),
    byProducer: Object.fromEntries(counts.byProducer),
    byType: Object.fromEntries(counts.byType),
    never,
    digest: `${through}~${digest.digest('hex')}`,
  }
}

function isChosen(act: ManyAct['act'], { reason }: QuarantineView): boolean {
  return act === 'dismiss' || !neverReprocessed.has(reason)
}

async function moveOf(app: Counterfoil, act: ManyAct['act'], entry: QuarantineView): Promise<QuarantineMove> {
  return act === 'dismiss' ? { to: 'dismissed' } : await startMove(app, entry)
}

function count(counts: Map<string, number>, name: string): void {
  const counted = counts.has(name) || counts.size < maxCounted ? name : 'other'
  counts.set(counted, (counts.get(counted) ?? 0) + 1)
}

const nothing: Totals = { released: 0, kept: 0, dismissed: 0, stale: 0 }

/** What a part of the run says of where the next one begins. */
function placeAfter({ decision, detail, result }: AuditRecord) {
  const part = Number(decision.slice(decision.lastIndexOf('/') + 1))
  const { cursor, before } = detail as { cursor: string; before: Totals }
  return { part, cursor, totals: sum(before, result.results as readonly QuarantineResult[]) }
}

function sum(before: Totals, results: readonly QuarantineResult[]): Totals {
  const of = (...outcomes: readonly QuarantineResult['outcome'][]) =>
    results.filter(({ outcome }) => outcomes.includes(outcome)).length
  return {
    released: before.released + of('released'),
    kept: before.kept + of('kept'),
    dismissed: before.dismissed + of('dismissed'),
    stale: before.stale + of('stale', 'settled', 'absent'),
  }
}
