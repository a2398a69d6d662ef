import { CounterfoilError, type Fingerprint, type Instant } from '../domain/index.ts'
import type { Answer, StoredAnswer } from './answer.ts'
import type { Claim } from './decide.ts'
import type { Steps } from './steps.ts'

/** `sync`: a handler gives its answer at once. `async`: it may wait for its own statements. */
export type Mode = 'sync' | 'async'

/** What a handler may give back. */
export type Given<M extends Mode> = M extends 'sync' ? Answer : Answer | Response | Promise<Answer | Response>

/** What comes at once on SQLite and as a promise on PostgreSQL. */
export type InMode<M extends Mode, Value> = M extends 'sync' ? Value : Promise<Value>

/** A place in an ordering domain. */
export interface FencePlace {
  readonly id: Uint8Array
  readonly domain: string
  /** 0 to 2^63 - 1. */
  readonly version: bigint
}

export interface NewAnswer {
  readonly id: Uint8Array
  readonly key: string
  readonly fingerprint: Fingerprint
  readonly plannedAt: Instant | null
  readonly at: Instant
  readonly expiresAt: Instant
  readonly answer: StoredAnswer
}

export interface NewTombstone {
  readonly id: Uint8Array
  readonly key: string
  readonly at: Instant
  /** Null: for ever. */
  readonly expiresAt: Instant | null
}

type Awaitable<Value> = Value | Promise<Value>

/** The guard's statements inside one transaction of the owner's database. */
export interface Session<Tx> {
  readonly tx: Tx
  /**
   * Takes the key until the transaction ends, and reads its row, and the time after it was taken. The row may be as
   * old as the call itself; `keep` and `close` find out. Null: no key.
   */
  claim(id: Uint8Array | null): Awaitable<Claim>
  /** Compare and set; holds the domain until the transaction ends. @returns the version that is not older, or null */
  raise(place: FencePlace): Awaitable<bigint | null>
  /** @throws KeyTaken */
  keep(answer: NewAnswer): Awaitable<void>
  /** @throws KeyTaken */
  close(tombstone: NewTombstone): Awaitable<void>
}

/** What a transaction decided, and whether it is to be committed. */
export interface Outcome<Value> {
  readonly commit: boolean
  readonly value: Value
}

/** Where the guard keeps its records: the owner's own database, so that they commit with the owner's rows. */
export interface GuardStore<Tx, M extends Mode> {
  readonly mode: M
  /** Makes or brings up the guard's tables. @throws CounterfoilError `store_*` */
  migrate(): Promise<void>
  /**
   * Runs the steps in a transaction of their own, and over again after `KeyTaken`. What they throw undoes it and
   * is thrown on.
   *
   * @throws CounterfoilError `store_unavailable` or `store_busy` when it could not begin or was undone by the
   *   database, `commit_unknown` when nobody knows whether it was committed
   */
  transaction<Value>(work: (session: Session<Tx>) => Steps<Outcome<Value>>): Promise<Value>
  /** Runs the steps inside the owner's transaction. */
  inside<Value>(tx: Tx, work: (session: Session<Tx>) => Steps<Value>): InMode<M, Value>
  /** Forgets, or shrinks to markers, up to `limit` rows whose time is over. @returns how many */
  clean(about: { readonly forgetKeys: boolean; readonly limit: number }): Promise<number>
  close(): Promise<void>
}

/**
 * Another transaction kept this key between our look and our write. Ours is to be undone; a new look will see it.
 * Where a store cannot hold a key that has no row yet from before its look, it starts the transaction over.
 */
export class KeyTaken extends CounterfoilError {
  constructor() {
    super('store_busy', 'Another transaction has just kept this idempotency key.', {
      hint: 'Roll back and try again: the next look sees it.',
    })
  }
}

/** @param begin the statement that was missing */
export function outsideTransaction(begin: string): CounterfoilError {
  return new CounterfoilError('store_unavailable', 'guard.inside() was called outside a transaction.', {
    hint: `Run '${begin}' first, and commit after.`,
  })
}

export function endedByHandler(): CounterfoilError {
  return new CounterfoilError('guard_answer_unfit', "A guarded handler ended the guard's transaction.", {
    hint: 'Leave begin, commit and rollback to the guard; use savepoints inside.',
  })
}
