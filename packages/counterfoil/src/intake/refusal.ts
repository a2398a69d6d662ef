import type { ErrorCode, Instant } from '../domain/index.ts'

/** Nothing of the delivery is stored. */
export interface Refusal {
  readonly kind: 'refused'
  readonly code: ErrorCode
  readonly why: string
  /** When another try makes sense. */
  readonly retryAfterMs?: number
  /** Further members of the answer. */
  readonly members?: Readonly<Record<string, unknown>>
  /** Of what is refused for its age alone: when it was fresh. */
  readonly signedAt?: Instant
}

export function refuse(code: ErrorCode, why: string): Refusal {
  return { kind: 'refused', code, why }
}
