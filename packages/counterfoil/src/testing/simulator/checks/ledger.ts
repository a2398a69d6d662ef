import type { History } from '../history.ts'
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
  const acted = new Map(operationsOf(history).map((operation) => [operation.name, operation.acted.length]))
  for (const effect of records.effects) {
    const name = `${effect.recipient} ${effect.key}`
    const acts = acted.get(name) ?? 0
    const { state, disputed, attempts, evidence } = effect
    if (state === 'confirmed' && acts === 0)
      found('I20', name, 'the ledger says confirmed, and it never acted')
    if (state !== 'confirmed' && finalStates.has(state) && acts > 0 && !disputed)
      found('I20', name, `the ledger says ${state}, and it acted`)
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
    if (repeats > attempts.length - 1)
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
  for (const entry of entries) {
    if (entry.kind !== 'decided' || !['released', 'dismissed', 'kept', 'assigned'].includes(entry.outcome))
      continue
    if (!recorded.has(entry.decision))
      found(
        'I20',
        entry.decision,
        `an operator's ${entry.act} was carried out, and the audit log has no such decision`,
      )
  }
}
