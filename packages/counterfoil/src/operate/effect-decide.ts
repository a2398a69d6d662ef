import type { Counterfoil } from '../counterfoil.ts'
import { assert, CounterfoilError, isLine } from '../domain/index.ts'
import { decide } from '../engine/index.ts'
import type { AuditRecord, EffectView, NewAudit, Settlement } from '../store/index.ts'
import { auditRow, checkVersion, type Decision, idUsed } from './decision.ts'
import { actionsOf, type EffectAct, factOf } from './effect-actions.ts'
import { effectOf, type ShownEffect, shown } from './effects.ts'
import type { OperatorAct } from './operator.ts'
import { type Evidence, needsSecondPerson, type Proposal, proposalFor } from './proposal.ts'

export interface EffectDecisionAsked extends Decision {
  readonly evidence?: Evidence
}

/** What came of a decision on an effect, and the effect as it is now. */
export interface EffectAnswer extends ShownEffect {
  /** `asked`: the recipient was; its answer is in the story. `hastened`: the engine repeats it now. */
  readonly outcome: 'decided' | 'asked' | 'hastened' | 'proposed' | 'rejected'
  /** The same decision was made before; nothing was changed now. */
  readonly repeated: boolean
}

const maxEvidence = 1_000
const maxCorrelation = 200
/** Rows of the audit log about one effect that are looked at. */
const looked = 50

/**
 * An operator's decision on an effect: checked against the lifecycle and the contract as they are now, written with its
 * audit row in one transaction, and only if the effect is still at the version that was looked at. Where the
 * configuration wants two persons, it is only proposed.
 *
 * @throws CounterfoilError `not_authorised`, `not_found`, `decision_*`, `action_refused`
 */
export async function decideOnEffect(
  app: Counterfoil,
  id: string,
  act: EffectAct,
  decision: EffectDecisionAsked,
): Promise<EffectAnswer> {
  const { expectedVersion, evidence } = decision
  const detail = { expectedVersion, evidence: evidence ?? null }
  const audit = auditRow(decision, `effects.${act}`, { subject: id, at: app.clock.now(), detail })
  checkVersion(expectedVersion)
  if (evidence !== undefined) checkEvidence(evidence)
  const { effect } = await effectOf(app, id)
  if (!needsSecondPerson(app, effect, act)) {
    return await carryOut(app, effect, { act, audit, evidence, by: audit.operator, expectedVersion })
  }
  const proposed = auditRow(decision, 'effects.propose', {
    subject: id,
    at: audit.at,
    detail: { act, ...detail },
  })
  if (!(await isNew(app, effect, act, { audit: proposed, evidence, expectedVersion }))) {
    return await repeated(app, id, 'proposed')
  }
  return await written(app, id, 'proposed', { audit: proposed, expectedVersion, settlement: null })
}

/**
 * The second person's word: carries a proposal out, or rejects it.
 *
 * @param proposal its decision id
 * @throws CounterfoilError as `decideOnEffect`, and `second_person_needed`
 */
export async function answerProposal(
  app: Counterfoil,
  id: string,
  answer: 'approve' | 'reject',
  proposal: string,
  decision: Decision,
): Promise<EffectAnswer> {
  const { expectedVersion } = decision
  const row = (about: object) =>
    auditRow(decision, `effects.${answer}` as OperatorAct, {
      subject: id,
      at: app.clock.now(),
      detail: { proposal, expectedVersion, ...about },
    })
  row({})
  checkVersion(expectedVersion)
  const { effect } = await effectOf(app, id)
  const made = await madeBefore(app, id, decision.decision)
  if (made !== undefined) {
    if (made.act === `effects.${answer}` && made.detail.proposal === proposal) {
      return await repeated(
        app,
        id,
        answer === 'reject' ? 'rejected' : outcomeOf(made.detail.act as EffectAct),
      )
    }
    throw idUsed(made)
  }
  const proposed = await proposalNamed(app, effect, proposal)
  const { act, evidence, by } = proposed
  const audit = row({ act, evidence, proposedBy: by })
  if (by === audit.operator) {
    throw new CounterfoilError('second_person_needed', `'${by}' proposed it and cannot answer it too.`, {
      hint: 'Another approver has to.',
    })
  }
  if (answer === 'reject') {
    return await written(app, id, 'rejected', { audit, expectedVersion, settlement: null })
  }
  return await carryOut(app, effect, {
    act,
    audit,
    evidence: evidence ?? undefined,
    by: `${by} and ${audit.operator}`,
    expectedVersion,
  })
}

interface Carried {
  readonly act: EffectAct
  readonly audit: NewAudit
  readonly evidence: Evidence | undefined
  /** Who decides: named in the evidence of the effect. */
  readonly by: string
  readonly expectedVersion: number
}

async function carryOut(app: Counterfoil, effect: EffectView, about: Carried): Promise<EffectAnswer> {
  const { act, audit, expectedVersion } = about
  const { id } = effect
  const outcome = outcomeOf(act)
  if (!(await isNew(app, effect, act, about))) return await repeated(app, id, outcome)
  switch (act) {
    case 'ask':
    case 'place-tombstone': {
      // The row goes first: what an operator lets be done at a recipient is known before it is done.
      const answer = await written(app, id, outcome, { audit, expectedVersion, settlement: null })
      if (answer.effect.version !== expectedVersion) return answer
      await app.inquire(answer.effect, act === 'ask' ? 'lookup' : 'tombstone', about.by)
      return { ...(await shown(app, await effectOf(app, id))), outcome, repeated: answer.repeated }
    }
    case 'repeat':
      return await written(app, id, outcome, { audit, expectedVersion, settlement: hasten(effect, about) })
    default:
      return await written(app, id, outcome, {
        audit,
        expectedVersion,
        settlement: settlementOf(app, effect, { ...about, fact: factOf[act] }),
      })
  }
}

/** Nothing but when the engine looks again changes: what it does then is what the policy allows it anyway. */
function hasten(effect: EffectView, { audit, by }: Carried): Settlement {
  const { id, version, state, disputed, escalated } = effect
  return {
    effect: id,
    expectedVersion: version,
    at: audit.at,
    to: state,
    disputed,
    escalated,
    dueAt: audit.at,
    closeAttempts: false,
    evidence: {
      kind: 'operator',
      fact: 'nothingProven',
      attempt: null,
      from: state,
      why: `to be repeated now: ${audit.reason}`,
      status: null,
      correlation: null,
      by,
    },
  }
}

function settlementOf(
  app: Counterfoil,
  effect: EffectView,
  { audit, evidence, by, fact }: Carried & { readonly fact: (typeof factOf)['confirm'] },
): Settlement {
  const contract = app.recipients.get(effect.recipient)?.contract ?? {}
  const why = evidence?.says ?? audit.reason
  const learned = { kind: 'operator', fact, why, correlation: evidence?.correlation ?? null, by } as const
  const decided = decide(effect, contract, app.owner, learned, audit.at, 0)
  assert(decided !== null, 'the lifecycle allows what was offered')
  return decided.settlement
}

/**
 * Whether a decision has to be carried out: false when it was before, whatever became of the effect since. A new one
 * is safe now and has its evidence, or this throws.
 */
async function isNew(
  app: Counterfoil,
  effect: EffectView,
  act: EffectAct,
  about: {
    readonly audit: NewAudit
    readonly evidence: Evidence | undefined
    readonly expectedVersion: number
  },
): Promise<boolean> {
  const { audit, evidence, expectedVersion } = about
  const action = actionsOf(app, effect, audit.at).find((one) => one.act === act)!
  const lacks = action.needsEvidence && evidence === undefined
  if (effect.version === expectedVersion && action.offered && !lacks) return true
  // No effect has the version 0: this only tells whether the decision was made before.
  const made = await app.store.decideEffect({
    audit,
    effect: effect.id,
    expectedVersion: 0,
    settlement: null,
  })
  if (made.kind === 'other') throw idUsed(made.existing)
  if (made.kind === 'decided') return false
  if (effect.version !== expectedVersion) throw stale(effect, expectedVersion)
  if (!action.offered) {
    throw new CounterfoilError('action_refused', `'${act}' is not offered for ${effect.id}: ${action.why}`, {
      hint: 'See what is: counterfoil effects show EFFECT',
    })
  }
  throw new CounterfoilError('decision_invalid', `'${act}' gives no evidence.`, {
    hint: 'Say what was seen and where, such as the operation in the recipient’s own console.',
  })
}

function outcomeOf(act: EffectAct): EffectAnswer['outcome'] {
  if (act === 'repeat') return 'hastened'
  return act === 'ask' || act === 'place-tombstone' ? 'asked' : 'decided'
}

async function repeated(
  app: Counterfoil,
  id: string,
  outcome: EffectAnswer['outcome'],
): Promise<EffectAnswer> {
  return { ...(await shown(app, await effectOf(app, id))), outcome, repeated: true }
}

/** The row of a decision about this effect. */
async function madeBefore(app: Counterfoil, id: string, decision: string): Promise<AuditRecord | undefined> {
  const rows = await app.store.listAudit({ subject: id, limit: looked })
  return rows.find((row) => row.decision === decision)
}

async function written(
  app: Counterfoil,
  id: string,
  outcome: EffectAnswer['outcome'],
  about: {
    readonly audit: NewAudit
    readonly expectedVersion: number
    readonly settlement: Settlement | null
  },
): Promise<EffectAnswer> {
  const { effect } = await effectOf(app, id)
  const decided = await app.store.decideEffect({ ...about, effect: effect.id })
  if (decided.kind === 'other') throw idUsed(decided.existing)
  if (decided.kind === 'stale') throw stale(decided.current, about.expectedVersion)
  return { ...(await shown(app, await effectOf(app, id))), outcome, repeated: decided.repeated }
}

async function proposalNamed(app: Counterfoil, effect: EffectView, name: string): Promise<Proposal> {
  const proposal = await proposalFor(app, effect)
  if (proposal?.decision === name) return proposal
  throw new CounterfoilError('not_found', `No proposal '${name.slice(0, 100)}' waits for ${effect.id}.`, {
    hint: 'It was answered, or it lapsed when the effect changed. Look at the effect again.',
  })
}

function stale({ id, version }: EffectView, expected: number): CounterfoilError {
  return new CounterfoilError(
    'decision_stale',
    `Effect ${id} is at version ${version}, and the decision was made on version ${expected}.`,
    { hint: 'Look at it again, and decide on what it says now.' },
  )
}

/** @throws CounterfoilError `decision_invalid` */
function checkEvidence({ says, correlation }: Evidence): void {
  const fits = isLine(says, maxEvidence) && (correlation === undefined || isLine(correlation, maxCorrelation))
  if (fits) return
  throw new CounterfoilError('decision_invalid', 'The evidence of the decision is unusable.', {
    hint: `Say in 1 to ${maxEvidence} characters, on one line, what was seen and where; the recipient's id has at most ${maxCorrelation}.`,
  })
}
