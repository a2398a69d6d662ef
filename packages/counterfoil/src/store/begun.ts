import { assert, type EffectState, type Instant, transition } from '../domain/index.ts'
import type { AttemptRecord } from './records.ts'

/** The lifecycle's word for what beginning does; statements have no state of their own making. */
export const attempting = begunState('planned', 'begun')
assert(attempting === begunState('unknown', 'repeatBegun'), 'a repeat is an attempt')

function begunState(from: 'planned' | 'unknown', fact: 'begun' | 'repeatBegun'): EffectState {
  const next = transition(from, fact)
  assert(next.kind === 'moves', `an effect that is ${from} can be ${fact}`)
  return next.to
}

/** An attempt of which nothing is known but that it may be on its way. */
export function begunAttempt(number: number, begunAt: Instant, worker: string): AttemptRecord {
  return {
    number,
    begunAt,
    endedAt: null,
    outcome: null,
    open: true,
    why: null,
    status: null,
    correlation: null,
    retryAfterMs: null,
    worker,
  }
}
