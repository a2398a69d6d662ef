import type { ReceiptId } from '../domain/index.ts'
import type { EffectView, Store } from '../store/index.ts'

/** What was seen from outside of one run, for the checker to hold against the ledger. */
export interface History {
  /** Receipts named in a 2xx answer. */
  readonly acknowledged: readonly ReceiptId[]
  /** Requests that were put on the wire, each with its effect's idempotency key; or effect key, where the recipient takes none. */
  readonly sent: readonly { readonly effect: string; readonly body: string }[]
  /** Acts, by the recipient's own count. */
  readonly acts: readonly { readonly effect: string }[]
  /** False where the contract gives the recipient no way to recognise a repeat and the engine no way to ask. */
  readonly evidenceExists: boolean
}

/**
 * Checks the invariants of design.md section 4 on a quiet system. Shares no logic with the engine: it reads
 * records and counts.
 *
 * @returns one sentence for each violation; none when all holds
 */
export async function violations(store: Store, history: History): Promise<string[]> {
  const found: string[] = []
  const receipts = await store.listReceipts({ limit: 9_999 })
  const effects = await store.listEffects({ limit: 9_999 })
  const { entries: quarantine } = await store.listQuarantine({ limit: 9_999 })
  const { outbox } = await store.status()

  const known = new Map(receipts.map((receipt) => [receipt.id, receipt]))
  for (const id of history.acknowledged)
    if (!known.has(id)) found.push(`I1: ${id} was acknowledged and has no receipt`)
  const first = receipts.filter((receipt) => receipt.conflictsWith === null)
  if (new Set(first.map((receipt) => receipt.delivery)).size !== first.length)
    found.push('I2: two receipts for one delivery identity')
  const held = new Set(quarantine.map((entry) => entry.receipt))
  for (const { id, state } of receipts) {
    if (state === 'quarantined' && !held.has(id)) found.push(`I3: ${id} is quarantined without an entry`)
    if (state === 'accepted')
      found.push(`I4: ${id} is neither planned nor in quarantine (${outbox.waiting} outbox records wait)`)
  }
  const names = effects.map((effect) => `${effect.recipient} ${effect.key}`)
  if (new Set(names).size !== names.length) found.push('I6: two effects under one key')
  const keys = new Set(effects.map((effect) => effect.idempotencyKey))
  if (keys.size !== effects.length) found.push('I8: two effects share an idempotency key')

  const named = new Set(effects.flatMap((effect) => [effect.idempotencyKey as string, effect.key as string]))
  const bodies = new Map<string, Set<string>>()
  for (const { effect, body } of history.sent) {
    bodies.set(effect, (bodies.get(effect) ?? new Set()).add(body))
    if (!named.has(effect)) found.push(`I5: a request went out for ${effect}, which is in no ledger`)
  }
  for (const [effect, seen] of bodies) {
    if (seen.size > 1) found.push(`I7: ${seen.size} different bodies went out for ${effect}`)
  }
  const sends = tally(history.sent)
  const acts = tally(history.acts)
  for (const effect of effects) found.push(...ofEffect(effect, sends, acts, history.evidenceExists))
  return found
}

function ofEffect(
  effect: EffectView,
  sends: ReadonlyMap<string, number>,
  acts: ReadonlyMap<string, number>,
  evidenceExists: boolean,
): string[] {
  const found: string[] = []
  const key = effect.idempotencyKey
  const sent = sends.get(key) ?? sends.get(effect.key) ?? 0
  const acted = acts.get(key) ?? acts.get(effect.key) ?? 0
  if (sent > effect.attempts.length)
    found.push(`I5: ${key} was sent ${sent} times with ${effect.attempts.length} attempts on record`)
  if (acted > 1) found.push(`I9/I10: ${key} acted ${acted} times`)
  if (effect.state === 'confirmed' && acted !== 1)
    found.push(`the ledger says confirmed and ${key} acted ${acted} times`)
  if (['refused', 'fenced', 'withdrawn', 'planned'].includes(effect.state) && acted > 0) {
    found.push(`the ledger says ${effect.state} and ${key} acted ${acted} times`)
  }
  if (effect.state === 'attempting') found.push(`${key} is still attempting in a quiet system`)
  if (evidenceExists && !['confirmed', 'refused', 'fenced', 'withdrawn'].includes(effect.state)) {
    found.push(`I22: ${key} has a path to evidence and is still ${effect.state}`)
  }
  const proof =
    effect.attempts.some((attempt) => attempt.outcome === effect.state) ||
    effect.evidence.some((entry) => entry.to === effect.state)
  if (['confirmed', 'refused', 'fenced', 'withdrawn'].includes(effect.state) && !proof) {
    found.push(`I20: ${key} is ${effect.state} without evidence`)
  }
  return found
}

function tally(seen: readonly { readonly effect: string }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { effect } of seen) counts.set(effect, (counts.get(effect) ?? 0) + 1)
  return counts
}
