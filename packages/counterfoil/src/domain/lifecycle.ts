/**
 * The effect lifecycle: one table, no I/O (design.md section 3). A row is the state an effect is in, a
 * column is what is learned, a cell is what follows. Every pair is decided here and nowhere else.
 */

export const effectStates = [
  'planned',
  'attempting',
  'unknown',
  'confirmed',
  'refused',
  'fenced',
  'withdrawn',
] as const
export type EffectState = (typeof effectStates)[number]
export type FinalState = 'confirmed' | 'refused' | 'fenced' | 'withdrawn'

export const facts = [
  /** An attempt was made durable, with its lease, before its first byte. */
  'begun',
  /** The same, for a repeat with the same key and bytes that the policy allows. */
  'repeatBegun',
  /** An answer, of whichever attempt, says that the recipient acted. */
  'confirmed',
  /** The latest attempt was refused for good, and no other attempt can still act. */
  'refused',
  /** The latest attempt was rejected as older, and no other attempt can still act. */
  'fenced',
  /** Proof that the latest attempt was not sent or not acted on, and no other attempt can still act. */
  'notActed',
  /** An attempt was answered without acting, but an earlier one is still open, so nothing is proved of the effect. */
  'earlierOpen',
  /** An earlier attempt was answered without acting while a later one is in flight. */
  'overtaken',
  /** Time-out, reset, torn or unclassified answer. */
  'unclear',
  /** An answer or a lookup says that the recipient has taken it on and will act later. */
  'accepted',
  /** The lease ran out while an attempt was in flight. */
  'leaseEnded',
  'foundActed',
  'foundRefused',
  /** A lookup proved, authoritatively and finally, that no attempt acted or will. */
  'absenceFinal',
  'nothingProven',
  /** The recipient accepted a tombstone: the effect can never act. */
  'tombstoned',
  'operatorConfirmed',
  'operatorRefused',
  'operatorWithdrew',
] as const
export type Fact = (typeof facts)[number]

export type Transition =
  | { readonly kind: 'moves'; readonly to: EffectState; readonly disputed: boolean }
  /** Kept as evidence; the state remains. */
  | { readonly kind: 'stays' }
  /** Contradicts a final state: kept as evidence, the effect is marked disputed and an alert is raised. */
  | { readonly kind: 'disputes' }
  /** Must not happen; nothing is written. */
  | { readonly kind: 'illegal'; readonly why: string }

const stays: Transition = { kind: 'stays' }
const disputes: Transition = { kind: 'disputes' }
const to = (state: EffectState): Transition => ({ kind: 'moves', to: state, disputed: false })
/** Moves, against what was believed: a planned effect whose absence had been "proved" turns out to have acted. */
const against = (state: EffectState): Transition => ({ kind: 'moves', to: state, disputed: true })
const never = (why: string): Transition => ({ kind: 'illegal', why })

const isFinal = 'a final state never moves'
const oneAttempt = 'one attempt is in flight already; a second at the same time is never begun'
const notAsked = 'only an unknown effect is decided this way'

const table: Record<EffectState, Record<Fact, Transition>> = {
  planned: {
    begun: to('attempting'),
    repeatBegun: never('a repeat needs an unknown attempt before it'),
    confirmed: against('confirmed'),
    refused: stays,
    fenced: stays,
    notActed: stays,
    earlierOpen: stays,
    overtaken: stays,
    unclear: stays,
    accepted: against('unknown'),
    leaseEnded: stays,
    foundActed: against('confirmed'),
    foundRefused: stays,
    absenceFinal: stays,
    nothingProven: stays,
    tombstoned: to('withdrawn'),
    operatorConfirmed: never(notAsked),
    operatorRefused: never(notAsked),
    operatorWithdrew: to('withdrawn'),
  },
  attempting: {
    begun: never(oneAttempt),
    repeatBegun: never(oneAttempt),
    confirmed: to('confirmed'),
    refused: to('refused'),
    fenced: to('fenced'),
    notActed: to('planned'),
    earlierOpen: to('unknown'),
    overtaken: stays,
    unclear: to('unknown'),
    accepted: to('unknown'),
    leaseEnded: to('unknown'),
    foundActed: to('confirmed'),
    foundRefused: stays,
    absenceFinal: stays,
    nothingProven: stays,
    tombstoned: stays,
    operatorConfirmed: never('the attempt in flight has not ended; wait for its lease'),
    operatorRefused: never('the attempt in flight has not ended; wait for its lease'),
    operatorWithdrew: never('the attempt in flight may act; wait for its lease'),
  },
  unknown: {
    begun: never('an unknown effect is repeated only where its contract allows it'),
    repeatBegun: to('attempting'),
    confirmed: to('confirmed'),
    refused: to('refused'),
    fenced: to('fenced'),
    notActed: to('planned'),
    earlierOpen: stays,
    overtaken: stays,
    unclear: stays,
    accepted: stays,
    leaseEnded: stays,
    foundActed: to('confirmed'),
    foundRefused: to('refused'),
    absenceFinal: to('planned'),
    nothingProven: stays,
    tombstoned: to('withdrawn'),
    operatorConfirmed: to('confirmed'),
    operatorRefused: to('refused'),
    operatorWithdrew: to('withdrawn'),
  },
  confirmed: final({
    foundRefused: disputes,
    absenceFinal: disputes,
    tombstoned: disputes,
    operatorConfirmed: stays,
  }),
  refused: final({ confirmed: disputes, accepted: disputes, foundActed: disputes, operatorRefused: stays }),
  fenced: final({ confirmed: disputes, accepted: disputes, foundActed: disputes }),
  withdrawn: final({
    confirmed: disputes,
    accepted: disputes,
    foundActed: disputes,
    operatorWithdrew: stays,
  }),
}

/** A final row: nothing begins, nobody decides again, and what contradicts it is named by the caller. */
function final(exceptions: Partial<Record<Fact, Transition>>): Record<Fact, Transition> {
  const row = Object.fromEntries(facts.map((fact) => [fact, stays])) as Record<Fact, Transition>
  for (const fact of [
    'begun',
    'repeatBegun',
    'operatorConfirmed',
    'operatorRefused',
    'operatorWithdrew',
  ] as const) {
    row[fact] = never(isFinal)
  }
  return { ...row, ...exceptions }
}

/** What follows when `fact` is learned of an effect in `state`. */
export function transition(state: EffectState, fact: Fact): Transition {
  return table[state][fact]
}

export function isFinalState(state: EffectState): state is FinalState {
  return state === 'confirmed' || state === 'refused' || state === 'fenced' || state === 'withdrawn'
}
