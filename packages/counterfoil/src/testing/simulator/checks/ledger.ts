import type { EffectView } from '../../../store/index.ts'
import type { EntryOf, History } from '../history.ts'
import { operationsOf } from './acts.ts'
import type { Check } from './violation.ts'

const finalStates = new Set(['confirmed', 'refused', 'fenced', 'withdrawn'])

/** Answers that refuse no effect for good, whatever they are to the one request. */
const refusesNothing = new Set([401, 403, 407, 408, 409, 425, 429, 500, 502, 503, 504])

/** I12, I13, I20: what the ledger says of effects, against its own moves and against what really happened. */
export const checkLedger: Check = (history, found) => {
  const { entries, records } = history
  const names = new Map(
    records.effects.map(({ id, recipient, key }) => [id as string, `${recipient} ${key}`]),
  )
  for (const entry of entries) {
    if (entry.kind !== 'moved' || !finalStates.has(entry.from)) continue
    found('I12', names.get(entry.effect) ?? entry.effect, `it moved from ${entry.from} to ${entry.to}`)
  }
  const closed = new Set(
    entries.flatMap((entry) =>
      entry.kind === 'closed' && entry.status !== null && entry.status >= 200 && entry.status < 300
        ? [`${entry.recipient} ${entry.key}`]
        : [],
    ),
  )
  const acted = new Map(operationsOf(history).map((operation) => [operation.name, operation.acted.length]))
  for (const effect of records.effects) {
    const name = `${effect.recipient} ${effect.key}`
    const acts = acted.get(name) ?? 0
    const { state, disputed, attempts, evidence } = effect
    if (state === 'confirmed' && acts === 0 && !isDecided(effect))
      found('I20', name, 'the ledger says confirmed, and it never acted')
    if (state !== 'confirmed' && finalStates.has(state) && !disputed) {
      if (acts > 0 && !isDecided(effect)) found('I20', name, `the ledger says ${state}, and it acted`)
      if (saysThatItActed(effect))
        found('I20', name, `the ledger says ${state}, holds proof that it acted, and disputes nothing`)
    }
    if (
      state === 'withdrawn' &&
      !isDecided(effect) &&
      !closed.has(`${effect.recipient} ${effect.idempotencyKey}`)
    )
      found('I20', name, 'it is withdrawn, and its recipient never said that its key is closed')
    if (state === 'planned' && acts > 0) found('I13', name, 'the ledger says planned, and it acted')
    if (finalStates.has(state)) {
      const proven =
        attempts.some(({ outcome }) => outcome === state) ||
        evidence.some(({ to, from }) => to === state && from !== state)
      if (!proven) found('I20', name, `it is ${state} without an answer or other evidence`)
    }
    const told = attempts.find(
      ({ outcome, status }) => outcome === 'refused' && refusesNothing.has(status ?? 0),
    )
    if (told !== undefined)
      found('I20', name, `attempt ${told.number} is held to be refused, and was answered ${told.status}`)
    if (evidence.some(({ by, why }) => by === '' || why === ''))
      found('I20', name, 'a piece of evidence gives no reason')
  }
  checkUnknown(history, names, found)
  checkActsOfPeople(history, found)
}

/** A person moved it where it is, and answers for that. */
function isDecided({ state, evidence }: EffectView): boolean {
  return evidence.some(({ kind, from, to }) => kind === 'operator' && from !== to && to === state)
}

function saysThatItActed({ attempts, evidence }: EffectView): boolean {
  return (
    attempts.some(({ outcome }) => outcome === 'confirmed') ||
    evidence.some(({ fact }) => fact === 'confirmed' || fact === 'foundActed')
  )
}

/** I13: each time that unknown was left, something was learned; a repeat has its attempt, everything else its evidence. */
function checkUnknown(
  { entries, records }: History,
  names: ReadonlyMap<string, string>,
  found: Parameters<Check>[1],
): void {
  const left = new Map<string, string[]>()
  for (const entry of entries) {
    if (entry.kind !== 'moved' || entry.from !== 'unknown') continue
    left.set(entry.effect, [...(left.get(entry.effect) ?? []), entry.to])
  }
  for (const { id, attempts, evidence } of records.effects) {
    const moves = left.get(id) ?? []
    const repeats = moves.filter((to) => to === 'attempting').length
    // Withdrawn before any attempt, it has none.
    if (repeats > Math.max(0, attempts.length - 1))
      found(
        'I13',
        names.get(id)!,
        `unknown was left ${repeats} times by a repeat, and ${attempts.length} attempts are on record`,
      )
    for (const to of new Set(moves)) {
      if (to === 'attempting') continue
      const times = moves.filter((one) => one === to).length
      const known = evidence.filter((entry) => entry.from === 'unknown' && entry.to === to).length
      if (known < times)
        found('I13', names.get(id)!, `it went from unknown to ${to} without evidence of its own`)
    }
  }
}

/** I20: every act of an operator has its reason, and every decision that did something is on record. */
function checkActsOfPeople({ entries, records }: History, found: Parameters<Check>[1]): void {
  const recorded = new Map(records.audit.map((row) => [row.decision, row]))
  for (const { decision, reason, operator } of records.audit)
    if (reason.trim() === '' || operator.trim() === '')
      found('I20', decision, 'an act of an operator gives no name or no reason')
  const views = new Map<string, string>()
  for (const entry of entries.filter(isDecision)) {
    const { act, decision, outcome } = entry
    const fits = outcomesOf[act]
    if (fits === undefined || !changes.has(outcome)) continue
    if (!recorded.has(decision))
      found('I20', decision, `an operator's ${act} was carried out, and the audit log has no such decision`)
    if (!fits.includes(outcome)) found('I20', decision, `an operator's ${act} was answered ${outcome}`)
    if (outcome === 'asked') continue
    const view = `${entry.entry} at version ${entry.version}`
    const other = views.get(view)
    if (other !== undefined && other !== decision)
      found('I20', decision, `it was carried out on ${view}, which ${other} had changed before`)
    views.set(view, decision)
  }
}

type Decided = EntryOf<'decided'> & { readonly at: number }

function isDecision(entry: History['entries'][number]): entry is Decided {
  return entry.kind === 'decided'
}

/** What may come of each act. */
const outcomesOf: Readonly<Record<string, readonly string[]>> = {
  reprocess: ['released', 'kept'],
  dismiss: ['dismissed'],
  assign: ['assigned'],
  ask: ['asked'],
  'place-tombstone': ['asked'],
  repeat: ['hastened'],
  confirm: ['decided'],
  refuse: ['decided'],
  withdraw: ['decided'],
}
const changes = new Set(Object.values(outcomesOf).flat())
