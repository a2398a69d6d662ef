import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError } from '../domain/index.ts'
import type { BackfillMove, BackfillView } from '../store/index.ts'
import { type Act, auditRow, idUsed } from './decision.ts'
import { authorise, type Operator, type OperatorAct } from './operator.ts'

/** @throws CounterfoilError `not_authorised` */
export async function listBackfills(app: Counterfoil, operator: Operator): Promise<BackfillView[]> {
  authorise(operator, 'backfill.list')
  return await app.store.listBackfills()
}

/** @throws CounterfoilError `not_authorised`, `not_found` */
export async function showBackfill(
  app: Counterfoil,
  operator: Operator,
  name: string,
): Promise<BackfillView> {
  authorise(operator, 'backfill.show')
  return await backfillOf(app, name)
}

/** What came of a decision, and the backfill as it is now. */
export interface BackfillAnswer {
  readonly backfill: BackfillView
  /** The same decision was made before; nothing was changed now. */
  readonly repeated: boolean
}

/**
 * Binds an operator and a reason to the digest of what was planned.
 *
 * @param about.acceptMalformed items that cannot be read are left out, knowingly
 * @throws CounterfoilError `not_authorised`, `not_found`, `decision_*`, `backfill_changed`, `backfill_malformed`,
 *   `backfill_state`
 */
export async function approveBackfill(
  app: Counterfoil,
  name: string,
  about: { readonly digest: string; readonly acceptMalformed?: boolean },
  act: Act,
): Promise<BackfillAnswer> {
  const { digest, acceptMalformed = false } = about
  authorise(act.operator, 'backfill.approve')
  const { plan } = await backfillOf(app, name)
  const { malformed } = plan.counts
  if (digest !== plan.digest) throw otherDigest(name)
  if (malformed > 0 && !acceptMalformed) {
    throw new CounterfoilError('backfill_malformed', `${malformed} items of '${name}' cannot be read.`, {
      hint: 'Mend them and plan again, or approve knowing that they are left out: --accept-malformed.',
    })
  }
  const detail = { digest, malformed, items: plan.items }
  return await decide(app, name, 'backfill.approve', { fact: 'approved', digest }, act, detail)
}

/**
 * Lets an approved backfill be taken in, by whichever process works.
 *
 * @param rate items a second at most; null: as many as live traffic leaves room for
 * @throws CounterfoilError `not_authorised`, `not_found`, `decision_*`, `backfill_state`
 */
export async function beginBackfill(
  app: Counterfoil,
  name: string,
  rate: number | null,
  act: Act,
): Promise<BackfillAnswer> {
  return await decide(app, name, 'backfill.run', { fact: 'begun', rate: checkedRate(rate) }, act, { rate })
}

/**
 * Goes on where it was paused, or halted.
 *
 * @param rate a new one; undefined: as before
 * @throws as `beginBackfill`
 */
export async function resumeBackfill(
  app: Counterfoil,
  name: string,
  rate: number | null | undefined,
  act: Act,
): Promise<BackfillAnswer> {
  authorise(act.operator, 'backfill.resume')
  const backfill = await backfillOf(app, name)
  const asked = rate === undefined ? backfill.run.rate : checkedRate(rate)
  return await decide(app, name, 'backfill.resume', { fact: 'begun', rate: asked }, act, { rate: asked })
}

/** The chunk in work is still taken in, and none after it. @throws as `beginBackfill` */
export async function pauseBackfill(app: Counterfoil, name: string, act: Act): Promise<BackfillAnswer> {
  return await decide(app, name, 'backfill.pause', { fact: 'paused' }, act, {})
}

async function decide(
  app: Counterfoil,
  name: string,
  does: OperatorAct,
  move: BackfillMove,
  act: Act,
  detail: Readonly<Record<string, unknown>>,
): Promise<BackfillAnswer> {
  const audit = auditRow(act, does, { subject: name, at: app.clock.now(), detail })
  const decided = await app.store.decideBackfill({ audit, name, move })
  if (decided.kind === 'decided') return decided
  if (decided.kind === 'other') throw idUsed(decided.existing)
  const { backfill } = decided
  if (backfill === null) throw notFound(name)
  if (move.fact === 'approved' && move.digest !== backfill.plan.digest) throw otherDigest(name)
  throw stateRefused(backfill, move.fact)
}

async function backfillOf(app: Counterfoil, name: string): Promise<BackfillView> {
  const backfill = await app.store.showBackfill(name)
  if (backfill === null) throw notFound(name)
  return backfill
}

export function stateRefused({ name, state }: BackfillView, fact: string): CounterfoilError {
  return new CounterfoilError('backfill_state', `Backfill '${name}' is ${state} and cannot be ${fact}.`, {
    hint: hints[state],
  })
}

const hints = {
  planned: 'Approve it first: counterfoil backfill approve',
  approved: 'Run it: counterfoil backfill run',
  running: 'Pause it first: counterfoil backfill pause',
  paused: 'Go on with it: counterfoil backfill resume',
  halted: 'See why: counterfoil backfill show. Then resume it, or plan under another name.',
  done: 'Plan what is left under another name.',
} as const

function notFound(name: string): CounterfoilError {
  return new CounterfoilError('not_found', `There is no backfill '${name}'.`, {
    hint: 'List them: counterfoil backfill list',
  })
}

function otherDigest(name: string): CounterfoilError {
  return new CounterfoilError('backfill_changed', `The digest is not that of the plan of '${name}'.`, {
    hint: 'Look at the plan again: counterfoil backfill show',
  })
}

function checkedRate(rate: number | null): number | null {
  if (rate === null || (Number.isFinite(rate) && rate > 0 && rate <= 1_000_000)) return rate
  throw new CounterfoilError('usage_invalid', `The rate is ${rate} a second.`, {
    hint: 'Give a positive number of items a second, such as 200/s.',
  })
}
