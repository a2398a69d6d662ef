import { CounterfoilError, codeOf, type Duration, milliseconds } from '../../domain/index.ts'
import type { Claim } from '../decide.ts'
import { type Applied, checkPrefix, pending } from '../migrations.ts'
import { runAsync, type Steps } from '../steps.ts'
import {
  endedByHandler,
  type GuardStore,
  KeyTaken,
  type Outcome,
  outsideTransaction,
  type Session,
} from '../store.ts'
import { type Borrowed, lender, type PgClient, type PgPool } from './client.ts'
import { migrations } from './migrations.ts'
import { type Closing, closing, keeping, Statements } from './statements.ts'

/** Settings of a guard's records on PostgreSQL. */
export interface PostgresGuardOptions {
  /** Begins the names of the guard's tables. Default `guard_`. */
  readonly prefix?: string
  /**
   * How long a handler may go without a statement before the database ends its transaction: a process that hangs
   * must not hold its key for ever. Default `30s`.
   */
  readonly idleTimeout?: Duration
  /** Prepares the guard's statements once a connection. False behind a pooler that cannot keep them. Default true. */
  readonly prepare?: boolean
}

/** How often a transaction starts over because another one kept its key just before. */
const rounds = 5

/**
 * Keeps the guard's records in a PostgreSQL database of the owner, 15 or later.
 *
 * A key is held by an advisory lock for as long as its transaction lives, so a second request with it is told
 * `guard_in_flight` at once and waits nowhere; a process that dies lets go of it. Times are the database's.
 *
 * @param owner a pool of `pg`, or one client, which then takes one request after the other
 */
export function postgresGuardStore<Client extends PgClient = PgClient>(
  owner: PgPool<Client> | Client,
  options: PostgresGuardOptions = {},
): GuardStore<Client, 'async'> {
  const prefix = checkPrefix(options.prefix ?? 'guard_')
  const idleMs = Math.ceil(milliseconds(options.idleTimeout ?? '30s'))
  const statements = new Statements(prefix, options.prepare ?? true)
  const borrow = lender(owner)
  const begin = `begin isolation level read committed; set local idle_in_transaction_session_timeout = ${idleMs}`

  async function transact<Value>(work: (client: Client) => Promise<Decided<Value>>): Promise<Value> {
    const lent = await ours(borrow)
    let broken = true
    try {
      const outcome = await work(lent.client)
      if (outcome.commit) await commit(lent, statements, outcome.closing)
      else await ours(() => lent.client.query('rollback'))
      broken = false
      return outcome.value
    } catch (error) {
      broken = codeOf(error) === 'commit_unknown' || !(await rolledBack(lent))
      throw error
    } finally {
      lent.giveBack(broken)
    }
  }

  return {
    mode: 'async',
    async migrate() {
      await transact(async (client) => {
        await ours(() => client.query(begin))
        await ours(() => migrate(client, prefix))
        return { commit: true, value: undefined, closing: null }
      })
    },
    async transaction<Value>(work: (session: Session<Client>) => Steps<Outcome<Value>>) {
      for (let round = 1; ; round++) {
        try {
          return await transact(async (client) => {
            const session = ownSession(client, statements, begin)
            const outcome = await runAsync(work(session))
            return { ...outcome, closing: session.closing() }
          })
        } catch (error) {
          if (!(error instanceof KeyTaken) || round === rounds) throw error
        }
      }
    },
    async inside(tx, work) {
      if (tx.getTransactionStatus?.() === 'I') throw outsideTransaction('begin')
      return await runAsync(work(sessionOn(tx, statements, (last) => statements.close(tx, last))))
    },
    clean: ({ forgetKeys, limit }) =>
      transact(async (client) => {
        await ours(() => client.query(begin))
        const value = await ours(() => statements.clean(client, forgetKeys, limit))
        return { commit: true, value, closing: null }
      }),
    async close() {},
  }
}

/** What a transaction decided, and what is written with its commit. */
interface Decided<Value> extends Outcome<Value> {
  readonly closing: Closing | null
}

/** @param write writes what the transaction ends with */
function sessionOn<Client extends PgClient>(
  client: Client,
  statements: Statements,
  write: (closing: Closing) => Promise<void>,
): Session<Client> {
  return {
    tx: client,
    async claim(id) {
      if (id === null) return withoutKey()
      return await ours(() => statements.claim(client, id))
    },
    raise: (place) => ours(() => statements.raise(client, place)),
    async keep(answer) {
      if (client.getTransactionStatus?.() === 'I') throw endedByHandler()
      await ours(() => write(keeping(answer)))
    },
    close: (tombstone) => ours(() => write(closing(tombstone))),
  }
}

/** Begins together with the first claim, and leaves its last write to the commit: two messages, two round trips. */
function ownSession<Client extends PgClient>(
  client: Client,
  statements: Statements,
  begin: string,
): Session<Client> & { closing(): Closing | null } {
  let last: Closing | null = null
  let begun = false
  const session = sessionOn(client, statements, async (write) => {
    last = write
  })
  return {
    ...session,
    closing: () => last,
    async claim(id) {
      if (begun) return await session.claim(id)
      begun = true
      if (id !== null) return await ours(() => statements.claim(client, id, begin))
      await ours(() => client.query(begin))
      return withoutKey()
    },
  }
}

function withoutKey(): Claim {
  return { inFlight: false, row: null, now: Date.now() }
}

/** The guard's own statements: what fails here was never committed. A handler's errors are its own. */
async function ours<Value>(statement: () => Promise<Value>): Promise<Value> {
  try {
    return await statement()
  } catch (cause) {
    if (codeOf(cause) !== undefined) throw cause
    throw new CounterfoilError('store_unavailable', 'The database did not go along; nothing was done.', {
      cause,
    })
  }
}

async function commit(
  { client, lost }: Borrowed<PgClient>,
  statements: Statements,
  closing: Closing | null,
): Promise<void> {
  if (lost())
    throw new CounterfoilError('store_unavailable', 'The connection broke before the commit was sent.')
  let command: string
  try {
    command = await statements.commit(client, closing)
  } catch (error) {
    if (error instanceof KeyTaken) throw error
    const code = String((error as { code?: unknown } | null)?.code)
    if (code === failedBefore) throw failedTransaction()
    // A deferred constraint or a serialization failure: the server says itself that it did not commit.
    if (/^(23|40)/.test(code)) throw error
    throw new CounterfoilError('commit_unknown', 'The database cannot tell whether it committed.', {
      cause: error,
    })
  }
  if (command !== 'COMMIT') throw failedTransaction()
}

/** `in_failed_sql_transaction` */
const failedBefore = '25P02'

function failedTransaction(): CounterfoilError {
  return new CounterfoilError('store_unavailable', 'A statement had failed, and the database undid all.', {
    hint: 'A handler that goes on after a failed statement needs a savepoint before it.',
  })
}

async function rolledBack({ client }: Borrowed<PgClient>): Promise<boolean> {
  try {
    await client.query('rollback')
    return true
  } catch {
    return false
  }
}

/** One process at a time; the lock goes with the transaction. */
async function migrate(client: PgClient, prefix: string): Promise<void> {
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`counterfoil ${prefix}`])
  await client.query(
    `create table if not exists ${prefix}migration (version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`,
  )
  const { rows } = await client.query(`select version, checksum from ${prefix}migration order by version`)
  for (const { version, name, checksum, sql } of pending(migrations, rows as Applied[], prefix)) {
    await client.query(sql)
    await client.query(`insert into ${prefix}migration (version, name, checksum) values ($1, $2, $3)`, [
      version,
      name,
      checksum,
    ])
  }
}
