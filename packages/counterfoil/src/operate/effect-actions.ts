import type { Counterfoil } from '../counterfoil.ts'
import {
  closingIsProof,
  correlationOf,
  type Fact,
  type Instant,
  isFinalState,
  nextStep,
  type Situation,
  transition,
} from '../domain/index.ts'
import { type OperatorFact, situationOf } from '../engine/index.ts'
import type { EffectView } from '../store/index.ts'

/** What an operator may do about an effect, in the order in which it is worth trying. */
export const effectActs = ['ask', 'repeat', 'place-tombstone', 'confirm', 'refuse', 'withdraw'] as const
export type EffectAct = (typeof effectActs)[number]

export interface EffectAction {
  readonly act: EffectAct
  /** Safe now, by the lifecycle and the contract. */
  readonly offered: boolean
  /** Why it is safe and what it does; or why it is not offered. */
  readonly why: string
  /** It is a decision that stands on evidence from outside, which has to be given. */
  readonly needsEvidence: boolean
}

/** What each decision is in the lifecycle. */
export const factOf: Readonly<Record<'confirm' | 'refuse' | 'withdraw', OperatorFact>> = {
  confirm: 'operatorConfirmed',
  refuse: 'operatorRefused',
  withdraw: 'operatorWithdrew',
}

/** Every act, whether it is safe now, and why. Pure but for the configuration. */
export function actionsOf(app: Counterfoil, effect: EffectView, now: Instant): EffectAction[] {
  const recipient = app.recipients.get(effect.recipient)
  const situation = recipient === undefined ? null : situationOf(recipient.contract, effect)
  return effectActs.map((act): EffectAction => {
    const needsEvidence =
      act === 'confirm' || act === 'refuse' || (act === 'withdraw' && mayHaveActed(effect))
    const not = (why: string) => ({ act, offered: false, why, needsEvidence })
    const yes = (why: string) => ({ act, offered: true, why, needsEvidence })
    if (act === 'confirm' || act === 'refuse' || act === 'withdraw') {
      const never = forbidden(effect, factOf[act])
      return never === null ? yes(decides(act, effect)) : not(never)
    }
    if (effect.state !== 'unknown') return not(notUnknown(effect))
    if (situation === null) {
      return not(
        `Recipient '${effect.recipient}' is not in this configuration, so nobody knows how to reach it.`,
      )
    }
    if (act === 'ask') return asking(situation, yes, not)
    return act === 'repeat' ? repeating(situation, now, yes, not) : closing(situation, now, yes, not)
  })
}

type Say = (why: string) => EffectAction

function asking({ contract, attempts }: Situation, yes: Say, not: Say): EffectAction {
  const { lookup } = contract
  if (lookup === undefined) return not('Its contract offers no lookup: the recipient cannot be asked.')
  if (lookup.by === 'correlation' && correlationOf(attempts) === null) {
    return not("Its lookup goes by the recipient's own id, and no answer carried one.")
  }
  return yes(
    lookup.absence.final
      ? `The recipient is asked by ${lookup.by} now. Asking changes nothing there.`
      : `The recipient is asked by ${lookup.by} now. Asking changes nothing there; "not there" is only a hint.`,
  )
}

function repeating(situation: Situation, now: Instant, yes: Say, not: Say): EffectAction {
  const step = nextStep(situation, now)
  if (step.kind !== 'repeat') {
    return not(
      step.kind === 'lookup'
        ? 'The recipient is asked before anything is repeated; ask it, and what may follow is shown then.'
        : step.why,
    )
  }
  const last = situation.attempts.at(-1)
  const until = (last?.endedAt ?? 0) + (last?.retryAfterMs ?? 0)
  if (until > now) return not(`The recipient asked to be left alone until ${new Date(until).toISOString()}.`)
  return yes(`${step.why} It is repeated at once instead of after its waiting time.`)
}

function closing(situation: Situation, now: Instant, yes: Say, not: Say): EffectAction {
  if (situation.contract.ordering?.tombstone === undefined) {
    return not('Its contract takes no tombstones: nothing at the recipient closes a key.')
  }
  if (!closingIsProof(situation, now)) {
    return not(
      'The recipient may have forgotten the key by now, and to close what it has forgotten proves nothing.',
    )
  }
  return yes(
    'The recipient is asked to close the key for ever: then it tells that it has acted, or it never can. That cannot be undone.',
  )
}

function decides(act: 'confirm' | 'refuse' | 'withdraw', effect: EffectView): string {
  if (act === 'confirm') return 'You have evidence that the recipient acted. It becomes final.'
  if (act === 'refuse')
    return 'You have evidence that the recipient refused it and did not act. It becomes final.'
  return mayHaveActed(effect)
    ? 'You have evidence that it did not act and never will. It becomes final, and a new revision may be planned.'
    : 'Nothing was sent that could act. It becomes final and is never attempted.'
}

function mayHaveActed({ state }: EffectView): boolean {
  return state !== 'planned'
}

/** Why the lifecycle does not let a person decide; null when it does. */
function forbidden({ state }: EffectView, fact: Fact): string | null {
  if (isFinalState(state)) return `It is ${state}, which is final: nothing moves it.`
  const step = transition(state, fact)
  return step.kind === 'illegal' ? sentence(step.why) : null
}

function notUnknown({ state }: EffectView): string {
  if (isFinalState(state)) return `It is ${state}, which is final: nothing more is asked or sent.`
  return state === 'planned'
    ? 'Nothing that was sent may have acted. The engine attempts it by itself.'
    : 'An attempt is in flight. Its answer decides, or the end of its lease.'
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
