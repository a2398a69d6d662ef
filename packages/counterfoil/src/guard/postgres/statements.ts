import type { Claim } from '../decide.ts'
import { type StoredKey, toKeyRow } from '../key-row.ts'
import { type FencePlace, KeyTaken, type NewAnswer, type NewTombstone } from '../store.ts'
import type { PgClient, PgResult } from './client.ts'

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

/** What a transaction leaves to be sent together with its commit. */
export interface Closing {
  readonly name: 'keep' | 'close'
  readonly values: readonly Value[]
}

type Value = string | number | bigint | Uint8Array | null

/** The guard's statements. Each is a look-up by primary key unless it says more. */
export class Statements {
  readonly #prefix: string
  readonly #prepare: boolean
  readonly #texts: Texts
  /** Which statements each connection has prepared. */
  readonly #prepared = new WeakMap<PgClient, Set<keyof Texts>>()

  /** @param prepare prepares each once a connection */
  constructor(prefix: string, prepare: boolean) {
    this.#prefix = prefix
    this.#prepare = prepare
    this.#texts = textsOf(`${prefix}key`, `${prefix}fence`)
  }

  /** @param begin statements to send before it in the same message, which saves a round trip */
  async claim(client: PgClient, id: Uint8Array, begin?: string): Promise<Claim> {
    // 64 bits of the digest: two keys that met would be told that one is in flight, no more.
    const lock = Buffer.from(id.buffer, id.byteOffset, id.byteLength).readBigInt64BE(0)
    const [row] = await (begin === undefined
      ? this.#run(client, 'claim', [id, lock]).then(({ rows }) => rows)
      : this.#claimAfter(client, begin, [id, lock]))
    if (row.now === null) return { inFlight: true, row: null, now: 0 }
    return {
      inFlight: false,
      row: row.row === null ? null : toKeyRow(fromJson(row.row)),
      now: Number(row.now),
    }
  }

  async #claimAfter(client: PgClient, begin: string, values: readonly Value[]): Promise<any[]> {
    const text = this.#inMessage(client, 'claim', values)
    if (text === null) {
      await client.query(begin)
      return (await this.#run(client, 'claim', values)).rows
    }
    return (await several(client, `${begin}; ${text}`)).at(-1)!.rows
  }

  /** @returns the command that the server says it carried out: `ROLLBACK` where a statement had failed before */
  async commit(client: PgClient, closing: Closing | null): Promise<string> {
    if (closing === null) return (await client.query('commit')).command
    const text = this.#inMessage(client, closing.name, closing.values)
    if (text !== null) {
      return (await several(client, `${text}; commit`).catch((error) => this.#keyTaken(error))).at(-1)!
        .command
    }
    await this.close(client, closing)
    return (await client.query('commit')).command
  }

  async raise(client: PgClient, { id, domain, version }: FencePlace): Promise<bigint | null> {
    const raised = await this.#run(client, 'raise', [id, domain, version.toString()])
    if (raised.rowCount === 1) return null
    const { rows } = await this.#run(client, 'readFence', [id])
    return BigInt(rows[0].version)
  }

  async close(client: PgClient, { name, values }: Closing): Promise<void> {
    await this.#run(client, name, values).catch((error) => this.#keyTaken(error))
  }

  async clean(client: PgClient, forget: boolean, limit: number): Promise<number> {
    return (await this.#run(client, forget ? 'forget' : 'shrink', [limit])).rowCount ?? 0
  }

  async #run(client: PgClient, name: keyof Texts, given: readonly Value[]): Promise<PgResult> {
    const text = this.#texts[name]
    const values = [...given]
    if (!this.#prepare) return await client.query({ text, values })
    const result = await client.query({ name: `${this.#prefix}${name}`, text, values })
    const prepared = this.#prepared.get(client)
    if (prepared === undefined) this.#prepared.set(client, new Set([name]))
    else prepared.add(name)
    return result
  }

  /** The statement as text, since several in one message take no parameters; null until it is prepared. */
  #inMessage(client: PgClient, name: keyof Texts, values: readonly Value[]): string | null {
    const literals = values.map(literal)
    if (!this.#prepare) return this.#texts[name].replaceAll(/\$(\d)/g, (_, n) => literals[n - 1]!)
    if (this.#prepared.get(client)?.has(name) !== true) return null
    return `execute ${this.#prefix}${name}(${literals.join()})`
  }

  /** The key was inserted by another; any other constraint is the owner's, and was checked at the commit. */
  #keyTaken(error: unknown): never {
    const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown }
    throw code === '23505' && constraint === `${this.#prefix}key_pkey` ? new KeyTaken() : error
  }
}

export function keeping({ id, key, fingerprint, plannedAt, at, expiresAt, answer }: NewAnswer): Closing {
  const { status, headers, body } = answer
  const values = [id, key, fingerprint, status, JSON.stringify(headers), body, plannedAt, at, expiresAt]
  return { name: 'keep', values }
}

export function closing({ id, key, at, expiresAt }: NewTombstone): Closing {
  return { name: 'close', values: [id, key, at, expiresAt] }
}

/** A message of several statements has as many results. */
async function several(client: PgClient, message: string): Promise<readonly PgResult[]> {
  return (await client.query(message)) as unknown as readonly PgResult[]
}

/** What stands in quotes as it is, whatever `standard_conforming_strings` says. */
const quotable = /^[\x20-\x26\x28-\x5b\x5d-\x7e]*$/

/** Plain text, which costs the server least, or digits alone: nothing can leave its quotes. */
function literal(value: Value): string {
  if (value === null) return 'null'
  if (typeof value === 'number' || typeof value === 'bigint') return `'${value}'`
  if (typeof value === 'string' && quotable.test(value)) return `'${value}'`
  const hex = Buffer.from(value as Uint8Array).toString('hex')
  const bytes = `E'\\\\x${hex}'`
  return typeof value === 'string' ? `convert_from(${bytes}, 'utf8')` : `${bytes}::bytea`
}

function textsOf(key: string, fence: string): Texts {
  // Skips what a request holds: it is not old, or another process is at it.
  const over = `select id from ${key} where expires_at <= ${nowMs} order by expires_at limit $1 for update skip locked`
  return {
    // `case` fixes the order: the clock is read after the lock was taken. No lock: no time.
    // The row in one column: most requests find none, and eight empty ones would cost more than the look-up.
    claim: `select case when pg_try_advisory_xact_lock($2) then ${nowMs} end as now,
      (select row_to_json(k)::text from ${key} k where k.id = $1) as row`,
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

/** A row as `row_to_json` writes it: bytea as `\\x` and digits, whatever `bytea_output` says. */
function fromJson(text: string): StoredKey {
  const row = JSON.parse(text)
  return { ...row, body: row.body === null ? null : Buffer.from(row.body.slice('\\x'.length), 'hex') }
}
