import { hasPath, judgedAfterMs, seenOf } from '../settled.ts'
import type { Check } from './violation.ts'

/** I22: when faults stop, every effect with a path to evidence becomes final, and no plan is left half done. */
export const checkCalm: Check = ({ entries, records, promises, calmAt }, found) => {
  const judgedAt = Math.min(records.at, calmAt + judgedAfterMs)
  for (const { recipient, key, state, attempts } of records.effects) {
    const name = `${recipient} ${key}`
    if (state === 'planned' || state === 'attempting') {
      found('I22', name, `faults ended at ${calmAt}, and at ${records.at} it is still ${state}`)
      continue
    }
    const known = promises.get(recipient)
    if (state !== 'unknown' || known === undefined) continue
    const begunAt = attempts[0]?.begunAt ?? records.at
    if (hasPath(known, seenOf(entries, recipient, key), begunAt, judgedAt))
      found('I22', name, 'its recipient could still tell what became of it, and it is unknown')
  }
}
