import type { Claim, KeyRow } from '../decide.ts'
import { type FencePlace, KeyTaken, type NewAnswer, type NewTombstone } from '../store.ts'
import type { PgClient } from './client.ts'

/** Milliseconds since the Unix epoch by the database's clock, which all processes share. */
const nowMs = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

interface Texts {
  readonly claim: string
  readonly raise: string
  readonly readFence: string
  readonly keep: string
  readonly close: string
  readonly forget: string
  readonly shrink: string
}

/** The guard's statements. Each is a look-up by primary key unless it says more. */
export class Statements {
  readonly #prefix: string
  readonly #prepare: boolean
  readonly #texts: Texts

  /** @param prepare prepares each once a connection */
  constructor(prefix: string, prepare: boolean) {
    this.#prefix = prefix
    this.#prepare = prepare
    this.#texts = textsOf(`${prefix}key`, `${prefix}fence`)
  }

  async claim(client: PgClient, id: Uint8Array): Promise<Claim> {
    // 64 bits of the digest: two keys that met would wait for each other, no more.
    const lock = Buffer.from(id).readBigInt64BE(0).toString()
    const { rows } = await this.#run(client, 'claim', [id, lock])
    const [row] = rows
    if (row.now === null) return { inFlight: true, row: null, now: 0 }
    return { inFlight: false, row: row.at === null ? null : toKeyRow(row), now: Number(row.now) }
  }

  async raise(client: PgClient, { id, domain, version }: FencePlace): Promise<bigint | null> {
    const raised = await this.#run(client, 'raise', [id, domain, version.toString()])
    if (raised.rowCount === 1) return null
    const { rows } = await this.#run(client, 'readFence', [id])
    return BigInt(rows[0].version)
  }

  async keep(
    client: PgClient,
    { id, key, fingerprint, plannedAt, at, expiresAt, answer }: NewAnswer,
  ): Promise<void> {
    const { status, headers, body } = answer
    const values = [id, key, fingerprint, status, JSON.stringify(headers), body, plannedAt, at, expiresAt]
    await this.#run(client, 'keep', values).catch(keyTaken)
  }

  async close(client: PgClient, { id, key, at, expiresAt }: NewTombstone): Promise<void> {
    await this.#run(client, 'close', [id, key, at, expiresAt]).catch(keyTaken)
  }

  async clean(client: PgClient, forget: boolean, limit: number): Promise<number> {
    return (await this.#run(client, forget ? 'forget' : 'shrink', [limit])).rowCount ?? 0
  }

  #run(client: PgClient, name: keyof Texts, values: unknown[]) {
    const text = this.#texts[name]
    return client.query(this.#prepare ? { name: `${this.#prefix}${name}`, text, values } : { text, values })
  }
}

function textsOf(key: string, fence: string): Texts {
  // Skips what a request holds: it is not old, or another process is at it.
  const over = `select id from ${key} where expires_at <= ${nowMs} order by expires_at limit $1 for update skip locked`
  return {
    // `case` fixes the order: the clock is read after the lock was taken. No lock: no time.
    claim: `select case when pg_try_advisory_xact_lock($2) then ${nowMs} end as now,
      k.fingerprint, k.status, k.headers, k.body, k.planned_at, k.at, k.expires_at
      from (values (true)) as one left join ${key} k on k.id = $1`,
    // Waits for whoever holds the domain, then compares with what that one left (READ COMMITTED looks again).
    raise: `insert into ${fence} as f (id, domain, version, raised_at) values ($1, $2, $3, ${nowMs})
      on conflict (id) do update set version = excluded.version, raised_at = excluded.raised_at
      where f.version < excluded.version`,
    readFence: `select version from ${fence} where id = $1`,
    keep: `insert into ${key} (id, key, fingerprint, status, headers, body, planned_at, at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    close: `insert into ${key} (id, key, at, expires_at) values ($1, $2, $3, $4)`,
    forget: `delete from ${key} where id in (${over})`,
    shrink: `update ${key} set headers = null, body = null, expires_at = null where id in (${over})`,
  }
}

function keyTaken(error: unknown): never {
  throw (error as { code?: unknown } | null)?.code === '23505' ? new KeyTaken() : error
}

function toKeyRow(row: Record<string, any>): KeyRow {
  const at = Number(row.at)
  if (row.status === null) return { kind: 'tombstoned', at }
  const status: number = row.status
  return {
    kind: 'answered',
    fingerprint: row.fingerprint,
    plannedAt: row.planned_at === null ? null : Number(row.planned_at),
    at,
    expiresAt: row.expires_at === null ? at : Number(row.expires_at),
    status,
    answer: row.body === null ? null : { status, headers: JSON.parse(row.headers), body: row.body },
  }
}
