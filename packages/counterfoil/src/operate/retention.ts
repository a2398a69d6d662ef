import type { Counterfoil } from '../counterfoil.ts'
import {
  type Combination,
  CounterfoilError,
  combinationInWords,
  type EffectId,
  type Horizon,
  type Instant,
  type ReceiptId,
  type Retention,
  type RetentionPeriods,
} from '../domain/index.ts'
import { forget, type StepTotal } from '../engine/index.ts'
import type { RetentionState } from '../store/index.ts'
import { type Act, auditRow, idUsed } from './decision.ts'
import { authorise, type Operator } from './operator.ts'

/** What a drawn chart of horizons needs; all lengths in milliseconds. */
export interface RetentionHorizons {
  readonly producers: readonly Horizon[]
  readonly queue: Horizon
  readonly recipients: readonly Horizon[]
  readonly operator: Horizon
  readonly audit: Horizon
  /** Longest first. */
  readonly combinations: readonly (Combination & { readonly inWords: string })[]
  /** The longest of them, or the audit horizon: evidence is kept for at least that long. */
  readonly needed: { readonly ms: number; readonly why: string }
  readonly periods: RetentionPeriods
  readonly everyMs: number | null
}

export interface RetentionPlan {
  /** `more`: the same call goes on; of steps that are not whole, counts are what was looked at. */
  readonly state: 'done' | 'more'
  readonly at: Instant
  readonly steps: readonly StepTotal[]
  /** Where the boundary is after it; null: nothing is closed to replay. */
  readonly boundary: Instant | null
  readonly store: RetentionState
}

/** Null where the configuration says nothing of retention: then nothing is ever removed. */
export function retentionHorizons({ retention }: Counterfoil): RetentionHorizons | null {
  if (retention === null) return null
  const { producers, queue, recipients, operator, audit, longest, periods, everyMs } = retention
  const combinations = retention.combinations.map((one) => ({ ...one, inWords: combinationInWords(one) }))
  const needed =
    audit.ms > longest.totalMs
      ? { ms: audit.ms, why: 'the audit horizon' }
      : { ms: longest.totalMs, why: combinationInWords(longest) }
  return { producers, queue, recipients, operator, audit, combinations, needed, periods, everyMs }
}

/**
 * What `applyRetention` would take now. Changes nothing.
 *
 * @param about.maxBatches of each step, where an answer in time is worth more than a whole one
 * @throws CounterfoilError `not_authorised`, `retention_missing`
 */
export async function planRetention(
  app: Counterfoil,
  operator: Operator,
  { maxBatches = Number.POSITIVE_INFINITY }: { readonly maxBatches?: number } = {},
): Promise<RetentionPlan> {
  authorise(operator, 'retention.plan')
  const { periods } = retentionOf(app)
  const at = app.clock.now()
  const steps = await forget(app, periods, { now: at, dryRun: true, maxBatches })
  const store = await app.store.retention()
  const { boundaryMs } = periods
  const closing = boundaryMs === null ? null : at - boundaryMs
  const boundary = closing === null ? store.boundary : Math.max(closing, store.boundary ?? closing)
  return { state: stateOf(steps), at, steps, boundary, store }
}

/**
 * Takes what is done with, in small batches that give way to live work. The same decision again goes on where it was
 * interrupted, with the cutoffs of its beginning.
 *
 * @param about.maxBatches of each step, where to stop for now
 * @throws CounterfoilError `not_authorised`, `decision_*`, `retention_missing`; `marker_key_missing` when the store
 *   was opened without its vault
 */
export async function applyRetention(
  app: Counterfoil,
  act: Act,
  about: { readonly maxBatches?: number; readonly onBatch?: (total: StepTotal) => void } = {},
): Promise<RetentionPlan> {
  authorise(act.operator, 'retention.apply')
  const { periods } = retentionOf(app)
  const row = (decision: string, at: Instant) => ({
    ...auditRow(act, 'retention.apply', { subject: 'retention', at, detail: { periods } }),
    decision,
  })
  const begun = await app.store.audit({ ...row(act.decision, app.clock.now()), result: {} })
  if (begun.kind === 'other') throw idUsed(begun.existing)
  const { at } = begun.record
  const steps = await forget(app, periods, { now: at, ...about })
  const state = stateOf(steps)
  if (state === 'done') {
    const result = Object.fromEntries(steps.map(({ step, count, bytes }) => [step, { count, bytes }]))
    await app.store.audit({ ...row(`${act.decision}/done`, app.clock.now()), result })
  }
  const store = await app.store.retention()
  return { state, at, steps, boundary: store.boundary, store }
}

function stateOf(steps: readonly StepTotal[]): RetentionPlan['state'] {
  return steps.every(({ whole }) => whole) ? 'done' : 'more'
}

/** Whose payloads: of receipts, of effects by any of their names, of effects whose key begins so. */
export interface ErasureSubject {
  readonly receipts?: readonly string[]
  readonly effects?: readonly string[]
}

/** Records of one erasure, at most. */
const maxErased = 1_000

/**
 * Destroys the payloads of one person: of these receipts and the requests of their effects; of these effects and the
 * payloads of the receipts that caused them. Evidence, fingerprints and keys stay.
 *
 * @throws CounterfoilError `not_authorised`, `decision_*`, `not_found`; `erasure_refused` when something is not done
 *   with, and then nothing was erased
 */
export async function erase(
  app: Counterfoil,
  subject: ErasureSubject,
  act: Act,
): Promise<{ readonly payloads: number; readonly requests: number; readonly repeated: boolean }> {
  authorise(act.operator, 'retention.erase')
  const { receipts = [], effects = [] } = subject
  const named = { receipts: [...new Set(receipts)].sort(), effects: [...new Set(effects)].sort() }
  if (
    named.receipts.length + named.effects.length === 0 ||
    named.receipts.length + named.effects.length > maxErased
  ) {
    throw new CounterfoilError('decision_invalid', `Name from 1 to ${maxErased} receipts and effects.`)
  }
  const audit = auditRow(act, 'retention.erase', {
    subject: [...named.receipts, ...named.effects].join(' ').slice(0, 500),
    at: app.clock.now(),
    detail: named,
  })
  for (const id of named.receipts) {
    if ((await app.store.showReceipt(id)) === null) throw missing(`receipt '${id}'`)
  }
  const ids: EffectId[] = []
  for (const name of named.effects) {
    const stories = await app.store.showEffects(name)
    if (stories.length === 0) throw missing(`effect '${name}'`)
    ids.push(...stories.map(({ effect }) => effect.id))
  }
  const erased = await app.store.erase({ audit, receipts: named.receipts as ReceiptId[], effects: ids })
  if (erased.kind === 'other') throw idUsed(erased.existing)
  if (erased.kind === 'erased') return erased
  const open = [...erased.receipts, ...erased.effects]
  throw new CounterfoilError(
    'erasure_refused',
    `Not done with: ${open.slice(0, 10).join(', ')}${open.length > 10 ? ` and ${open.length - 10} more` : ''}. Nothing was erased.`,
    {
      hint: 'An effect that is not final still needs its request. Settle or withdraw it, dismiss what waits in quarantine, then erase.',
    },
  )
}

function missing(what: string): CounterfoilError {
  return new CounterfoilError('not_found', `There is no ${what}.`, {
    hint: 'What became a marker has no payload any more.',
  })
}

function retentionOf({ retention }: Counterfoil): Retention {
  if (retention !== null) return retention
  throw new CounterfoilError(
    'retention_missing',
    'The configuration says nothing of retention: nothing is removed.',
    {
      hint: 'Give it retention: {} for the least that the horizons allow, and look at: counterfoil check',
    },
  )
}
