import { CounterfoilError, type Instant } from '../domain/index.ts'
import type { Accepted } from './store.ts'

/** An event from before the boundary that nothing is known of: it may be one that was forgotten. Nothing was written. */
export class BeyondRetention extends CounterfoilError {
  readonly boundary: Instant

  constructor(boundary: Instant) {
    super('beyond_retention', `The event is from before ${new Date(boundary).toISOString()}.`, {
      hint: 'What happened before that time is closed to replay. If it is genuine and new, a person has to enter it.',
    })
    this.boundary = boundary
  }
}

/** How the statements of a store tell it. */
export interface Beyond {
  readonly outcome: 'beyond'
  readonly boundary: Instant
}

/** @throws BeyondRetention */
export function notBeyond(answer: Accepted | Beyond): Accepted {
  if (answer.outcome === 'beyond') throw new BeyondRetention(answer.boundary)
  return answer
}
