import type { Instant, Outcome } from '../../domain/index.ts'

/** What is known of how an endpoint does. Plain data: it fits a column of the program's own table. */
export interface EndpointHealth {
  /** The first failure since a message was last taken; null while it does well. */
  readonly failingSince: Instant | null
  /** Failures since then. */
  readonly failures: number
  /** Nothing is sent while this is there, and messages wait. */
  readonly off: { readonly at: Instant; readonly why: 'gone' | 'failing' | 'by-hand' } | null
}

/** Of an endpoint that answered its last message, or was never asked. */
export const healthy: EndpointHealth = { failingSince: null, failures: 0, off: null }

/** So many failures at least, whatever the time: two messages a week apart say little. */
export const leastFailures = 5

/**
 * What one more attempt says of an endpoint. Pure. 410 switches it off at once, as Standard Webhooks wants; else
 * nothing but failures for `offAfterMs` do. 429 is the answer of one that lives.
 */
export function healthAfter(
  before: EndpointHealth,
  { kind, status }: Pick<Outcome, 'kind' | 'status'>,
  now: Instant,
  offAfterMs: number,
): EndpointHealth {
  // An answer to what was under way when it was switched off switches nothing on: a person does.
  if (before.off !== null) return before
  if (kind === 'confirmed') return healthy
  if (status === 429) return before
  const failingSince = before.failingSince ?? now
  const failures = before.failures + 1
  if (status === 410) return { failingSince, failures, off: { at: now, why: 'gone' } }
  const isOver = failures >= leastFailures && now - failingSince >= offAfterMs
  return { failingSince, failures, off: isOver ? { at: now, why: 'failing' } : null }
}

/** What the program's table is told: each failure alone is not. */
export function isChange(before: EndpointHealth, after: EndpointHealth): boolean {
  return before.failingSince !== after.failingSince || before.off?.at !== after.off?.at
}
