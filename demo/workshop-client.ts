import type { Fault } from './recipient-faults.ts'

/** What the workshop says of itself: its own count, apart from any ledger. */
export interface Acts {
  readonly total: number
  /** By idempotency key. */
  readonly byKey: Readonly<Record<string, number>>
  /** By what the requests themselves called the operation, which is the effect key. */
  readonly byReference: Readonly<Record<string, number>>
  readonly answersLost: number
  readonly answersLate: number
  readonly answered500: number
  readonly droppedUndone: number
  readonly replayed: number
  readonly refusedOtherPayload: number
  readonly refusedForAge: number
}

export async function acts(workshop: string): Promise<Acts> {
  const response = await fetch(`${workshop}/acts`)
  return (await response.json()) as Acts
}

/** What the next acting requests meet. */
export async function misbehave(workshop: string, next: Partial<Record<Fault, number>>): Promise<void> {
  const response = await fetch(`${workshop}/control`, { method: 'POST', body: JSON.stringify(next) })
  if (!response.ok) throw new Error(`The workshop refused ${JSON.stringify(next)}: ${await response.text()}`)
}
