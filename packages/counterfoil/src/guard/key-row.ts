import type { Fingerprint } from '../domain/index.ts'
import type { KeyRow } from './decide.ts'

/** A row of the guard's keys as both databases keep it. */
export interface StoredKey {
  readonly fingerprint: Fingerprint
  /** Null: a tombstone. */
  readonly status: number | null
  /** JSON. */
  readonly headers: string | null
  /** Null beside a status: a marker. */
  readonly body: Uint8Array | null
  readonly planned_at: number | null
  readonly at: number
  readonly expires_at: number | null
}

export function toKeyRow(row: StoredKey): KeyRow {
  const { status, at, headers, body } = row
  if (status === null) return { kind: 'tombstoned', at }
  return {
    kind: 'answered',
    fingerprint: row.fingerprint,
    plannedAt: row.planned_at,
    at,
    expiresAt: row.expires_at ?? at,
    status,
    answer: body === null || headers === null ? null : { status, headers: JSON.parse(headers), body },
  }
}
