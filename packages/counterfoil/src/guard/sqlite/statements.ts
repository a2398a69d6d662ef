import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { KeyRow } from '../decide.ts'
import { type StoredKey, toKeyRow } from '../key-row.ts'
import type { FencePlace, NewAnswer, NewTombstone } from '../store.ts'

/** The guard's statements on one connection, prepared once. Each is a look-up by primary key unless it says more. */
export class Statements {
  readonly #readKey: StatementSync
  readonly #readFence: StatementSync
  readonly #raiseFence: StatementSync
  readonly #keep: StatementSync
  readonly #close: StatementSync
  readonly #forget: StatementSync
  readonly #shrink: StatementSync

  constructor(db: DatabaseSync, prefix: string) {
    const key = `${prefix}key`
    const fence = `${prefix}fence`
    this.#readKey = db.prepare(
      `select fingerprint, status, headers, body, planned_at, at, expires_at from ${key} where id = ?`,
    )
    this.#readFence = db.prepare(`select version from ${fence} where id = ?`)
    this.#readFence.setReadBigInts(true)
    this.#raiseFence = db.prepare(
      `insert into ${fence} (id, domain, version, raised_at) values (?, ?, ?, ?)
       on conflict (id) do update set version = excluded.version, raised_at = excluded.raised_at
       where version < excluded.version`,
    )
    this.#keep = db.prepare(
      `insert into ${key} (id, key, fingerprint, status, headers, body, planned_at, at, expires_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#close = db.prepare(`insert into ${key} (id, key, at, expires_at) values (?, ?, ?, ?)`)
    // Both walk the index of expiry from its start, in small batches.
    this.#forget = db.prepare(
      `delete from ${key} where id in (select id from ${key} where expires_at <= ? order by expires_at limit ?)`,
    )
    this.#shrink = db.prepare(
      `update ${key} set headers = null, body = null, expires_at = null
       where id in (select id from ${key} where expires_at <= ? order by expires_at limit ?)`,
    )
  }

  readKey(id: Uint8Array): KeyRow | null {
    const row = this.#readKey.get(id) as unknown as StoredKey | undefined
    return row === undefined ? null : toKeyRow(row)
  }

  /** @returns the version that is not older than the given one, or null when it was raised */
  raise({ id, domain, version }: FencePlace, now: number): bigint | null {
    if (Number(this.#raiseFence.run(id, domain, version, now).changes) === 1) return null
    return (this.#readFence.get(id) as { version: bigint }).version
  }

  keep({ id, key, fingerprint, plannedAt, at, expiresAt, answer }: NewAnswer): void {
    const { status, headers, body } = answer
    this.#keep.run(id, key, fingerprint, status, JSON.stringify(headers), body, plannedAt, at, expiresAt)
  }

  close({ id, key, at, expiresAt }: NewTombstone): void {
    this.#close.run(id, key, at, expiresAt)
  }

  clean(forget: boolean, now: number, limit: number): number {
    return Number((forget ? this.#forget : this.#shrink).run(now, limit).changes)
  }
}
