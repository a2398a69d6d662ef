import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError } from '../domain/index.ts'
import type { Found } from '../store/index.ts'
import { authorise, type Operator } from './operator.ts'

/** Longest name that is looked for: no id, key or fingerprint is longer. */
const maxName = 512
/** Records of each kind that one kind of name finds. */
const maxFound = 20

/**
 * Whatever has this name: a receipt, effect or quarantine id, the producer's event id or an effect key (their beginnings
 * too), an idempotency key, the recipient's own id, a fingerprint.
 *
 * @throws CounterfoilError `not_authorised`, `usage_invalid`
 */
export async function search(app: Counterfoil, operator: Operator, name: string): Promise<Found> {
  authorise(operator, 'search')
  const text = name.trim()
  if (text === '' || text.length > maxName || !text.isWellFormed()) {
    throw new CounterfoilError('usage_invalid', `Name what to look for, in 1 to ${maxName} characters.`)
  }
  return await app.store.search({ text, limit: maxFound })
}
