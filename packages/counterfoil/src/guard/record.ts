import type { Instant } from '../domain/index.ts'
import type { StoredAnswer } from './answer.ts'
import type { Claim, KeyRow } from './decide.ts'
import { type Steps, step } from './steps.ts'
import type { Outcome, Session } from './store.ts'

/**
 * What is known of a key, as lookups and tombstones answer it.
 *
 * - `acted`: answered 2xx or 3xx. `refused`: answered 4xx. `failed`: answered 5xx, where those are kept.
 * - `tombstoned`: it has not acted and never will.
 * - `in-flight`: a request with it is being worked on. `absent`: nothing is known of it.
 */
export type KeyState = 'acted' | 'refused' | 'failed' | 'tombstoned' | 'in-flight' | 'absent'

/** What became of a key, as lookups and closed keys tell it. */
export interface KeyRecord {
  readonly state: KeyState
  /** When it was answered or closed. */
  readonly at: Instant | null
  /** The stored answer; null when there is none, or its time is over. */
  readonly answer: StoredAnswer | null
}

/** Where one answer must be understood by status alone, only `acted` is a 2xx and only `absent` a 404. */
export const recordStatus: Readonly<Record<KeyState, number>> = {
  acted: 200,
  absent: 404,
  refused: 409,
  failed: 409,
  tombstoned: 409,
  'in-flight': 409,
}

/**
 * Asked under the same lock as acting: whoever gets the key later reads the clock later. Asked twice, because on
 * PostgreSQL the first look may see the time before its lock; the second cannot.
 */
export function* lookUp(session: Session<unknown>, id: Uint8Array): Steps<Outcome<KeyRecord>> {
  yield* step(session.claim(id))
  const claim = yield* step(session.claim(id))
  return { commit: false, value: toRecord(claim) }
}

/** Closes a key for good, unless it has acted or is being worked on: then the record says so. */
export function* placeTombstone(
  session: Session<unknown>,
  about: { readonly id: Uint8Array; readonly key: string; readonly keepForMs: number | null },
): Steps<Outcome<KeyRecord>> {
  const { id, key, keepForMs } = about
  const claim = yield* step(session.claim(id))
  if (claim.inFlight || claim.row !== null) return { commit: false, value: toRecord(claim) }
  const at = claim.now
  yield* step(session.close({ id, key, at, expiresAt: keepForMs === null ? null : at + keepForMs }))
  return { commit: true, value: { state: 'tombstoned', at, answer: null } }
}

/** The record as JSON; a body that is no UTF-8 comes as base64. */
export function recordJson(key: string, { state, at, answer }: KeyRecord): Readonly<Record<string, unknown>> {
  return {
    key,
    state,
    ...(at === null ? {} : { at: new Date(at).toISOString() }),
    ...(answer === null
      ? {}
      : {
          answer: {
            status: answer.status,
            headers: Object.fromEntries(answer.headers),
            ...bodyJson(answer.body),
          },
        }),
  }
}

function toRecord({ inFlight, row, now }: Claim): KeyRecord {
  if (inFlight) return { state: 'in-flight', at: null, answer: null }
  if (row === null) return { state: 'absent', at: null, answer: null }
  if (row.kind === 'tombstoned') return { state: 'tombstoned', at: row.at, answer: null }
  return { state: stateOf(row), at: row.at, answer: row.expiresAt <= now ? null : row.answer }
}

function stateOf({ status }: Extract<KeyRow, { kind: 'answered' }>): KeyState {
  return status < 400 ? 'acted' : status < 500 ? 'refused' : 'failed'
}

function bodyJson(body: Uint8Array): { body: string } | { bodyBase64: string } {
  try {
    return { body: utf8.decode(body) }
  } catch {
    return { bodyBase64: Buffer.from(body).toString('base64') }
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
