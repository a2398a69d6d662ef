import type { Instant } from '../../packages/counterfoil/src/domain/index.ts'
import type { Learned } from '../../packages/counterfoil/src/engine/decide.ts'
import type { EffectView } from '../../packages/counterfoil/src/store/index.ts'

/** One moment of the whole model. Immutable: a move makes another. */
export interface State {
  readonly now: Instant
  /** Of the two events: where its receipt is. */
  readonly events: readonly EventPlace[]
  /** The ledger; null until an event has planned the effect. */
  readonly effects: readonly (EffectView | null)[]
  readonly workers: readonly [Worker, Worker]
  /** Requests that left a worker and have neither arrived nor got lost. */
  readonly wire: readonly Request[]
  readonly far: Far
}

export type EventPlace = 'waiting' | 'planned' | 'quarantined'

/** A process: what it does now, and the calls whose answers it would still read. */
export interface Worker {
  readonly doing: Doing
  readonly calls: readonly Call[]
}

/** `fresh`: the effect has not changed since the worker read it. */
export type Doing =
  | { readonly kind: 'idle' }
  /** The attempt is durable and nothing is sent. */
  | {
      readonly kind: 'begun'
      readonly effect: number
      readonly attempt: number
      readonly leaseUntil: Instant
      readonly fresh: boolean
    }
  | { readonly kind: 'calling'; readonly effect: number; readonly attempt: number; readonly fresh: boolean }
  /** The policy was asked and said to repeat. */
  | {
      readonly kind: 'repeating'
      readonly effect: number
      readonly decidedAt: Instant
      readonly fresh: boolean
    }
  | {
      readonly kind: 'asking'
      readonly effect: number
      readonly what: 'lookup' | 'tombstone'
      readonly askedAt: Instant
      readonly fresh: boolean
    }
  /** It knows something that the ledger does not; `attempts` are those it knew of. */
  | {
      readonly kind: 'telling'
      readonly effect: number
      readonly learned: Learned
      readonly attempts: number
      readonly fresh: boolean
    }

export interface Call {
  readonly effect: number
  readonly attempt: number
  /** Status of the answer that is on its way; null: none is. */
  readonly answer: number | null
  /** The worker has given up waiting; an answer is evidence still. */
  readonly late: boolean
}

export interface Request {
  readonly effect: number
  readonly attempt: number
  readonly sentAt: Instant
  /** What the event that planned it asked for. */
  readonly payload: string
  /** Made by the network: nobody waits for its answer. */
  readonly copy: boolean
}

/** The recipient, by its own count. */
export interface Far {
  /** Of each effect's key: what is remembered. */
  readonly keys: readonly (Known | null)[]
  /** Of each effect's key: closed by a tombstone. */
  readonly closed: readonly boolean[]
  /** The highest version that acted. */
  readonly version: number
  /** The condition of the effect's request holds no more. */
  readonly changed: boolean
  /** Taken on, to be done later. */
  readonly due: readonly { readonly effect: number; readonly attempt: number; readonly at: Instant }[]
  readonly acts: readonly { readonly effect: number; readonly attempt: number }[]
}

export interface Known {
  readonly until: Instant
  readonly status: number
  readonly done: boolean
  /** A lookup may not show it before. */
  readonly shownAt: Instant
}

// Of each part of a state, the same text for values that nothing can tell apart.

/** Of an effect whose attempts keep only what somebody will read: `tidy.ts`. */
export function effectKey(effect: EffectView | null): string {
  if (effect === null) return '-'
  const { state, dueAt, disputed, escalated, attempts, evidence, fingerprint } = effect
  let text = `${fingerprint}${state}${dueAt}${disputed ? 'd' : ''}${escalated ? 'e' : ''}`
  for (const { number, begunAt, endedAt, outcome, open, why, status } of attempts)
    text += `;${number}${begunAt},${endedAt},${outcome}${open ? 'o' : ''}${status ?? why ?? ''}`
  for (const { at, kind, fact, to, why } of evidence)
    text += `:${at},${kind},${fact},${to}${kind === 'escalation' ? why : ''}`
  return text
}

export function wireKey(wire: State['wire']): string {
  return wire
    .map((r) => `${r.effect}${r.attempt}${r.payload}@${r.sentAt}${r.copy ? 'c' : ''}`)
    .sort()
    .join()
}

export function workerKey({ doing, calls }: Worker): string {
  const waits = calls.map((c) => `${c.effect}${c.attempt}=${c.answer}${c.late ? 'l' : ''}`).sort()
  return `${doingKey(doing)}(${waits.join()})`
}

function doingKey(doing: Doing): string {
  if (doing.kind === 'idle') return ''
  const about = `${doing.kind}${doing.effect}${doing.fresh ? 'f' : ''}`
  switch (doing.kind) {
    case 'begun':
      return `${about}${doing.attempt}@${doing.leaseUntil}`
    case 'calling':
      return `${about}${doing.attempt}`
    case 'repeating':
      return `${about}@${doing.decidedAt}`
    case 'asking':
      return `${about}${doing.what}@${doing.askedAt}`
    case 'telling':
      return about + learnedKey(doing.learned) + (doing.learned.kind === 'leaseEnded' ? doing.attempts : '')
  }
}

function learnedKey(learned: Learned): string {
  switch (learned.kind) {
    case 'answer':
      return `answer${learned.attempt}${learned.outcome.kind}${learned.outcome.status}`
    case 'lookup':
    case 'tombstone':
      return `${learned.kind}${learned.finding.kind}@${learned.askedAt}-${learned.answeredAt}`
    case 'leaseEnded':
    case 'operator':
    case 'escalate':
      return learned.kind
  }
}

export function farKey({ keys, closed, version, changed, due, acts }: Far): string {
  const known = keys.map((k) => (k === null ? '-' : `${k.until}.${k.status}.${k.done}.${k.shownAt}`)).join()
  const pending = due.map((d) => `${d.effect}${d.attempt}@${d.at}`).join()
  const done = acts.map((a) => `${a.effect}${a.attempt}`).join()
  return `${known}|${closed}|${version}${changed}|${pending}|${done}`
}
