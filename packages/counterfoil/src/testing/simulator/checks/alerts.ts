import type { EntryOf, History, Promises } from '../history.ts'
import type { Check } from './violation.ts'

/** What needs a person has told its owner so: each entry in quarantine (I3), and each effect that nothing else decides (I22). */
export const checkAlerts: Check = ({ entries, records, promises, tellsAlerts }, found) => {
  if (tellsAlerts !== true) return
  const alerts = entries.filter(
    (entry): entry is EntryOf<'alerted'> & { at: number } => entry.kind === 'alerted',
  )
  const told = new Set(alerts.flatMap(({ quarantine, effect }) => [quarantine, effect]))
  for (const { id } of records.quarantine)
    if (!told.has(id)) found('I3', id, 'it is in quarantine, and nobody was told')
  for (const effect of records.effects) {
    const name = `${effect.recipient} ${effect.key}`
    if ((effect.escalated || effect.disputed) && !told.has(effect.id))
      found('I22', name, 'it waits for a person, and nobody was told')
    if (effect.state === 'unknown' && !effect.escalated && isLeftToPeople(promises, effect))
      found('I22', name, 'nothing can tell what became of it, and it was given to nobody')
  }
}

/** Its recipient can never say more than it did in its answer. */
function isLeftToPeople(promises: History['promises'], { recipient }: { recipient: string }): boolean {
  const known: Promises | undefined = promises.get(recipient)
  if (known === undefined || known.lookup !== null || known.tombstones || known.conditional) return false
  return known.repeats === null || known.unstated
}
