import { readdirSync, readFileSync } from 'node:fs'
import type { Finding, SqlValue } from '../store.ts'
import type { Row, Run } from './connection.ts'
import { quoted } from './statement.ts'

/** Beyond these a finding is a warning, or a problem. */
const limits = {
  clockMs: { warning: 500, problem: 5_000 },
  /** Nothing that died after a transaction began can be cleaned away while it is open. */
  transactionSeconds: { warning: 300, problem: 3_600 },
  /** Dead rows to each live one, from the least number of them on. */
  deadRatio: { warning: 5, problem: 50 },
  deadRows: 10_000,
  /** Transactions until the server stops taking writes to save itself (postgresql.org/docs/current/routine-vacuuming.html). */
  frozenAge: { warning: 1_000_000_000, problem: 1_800_000_000 },
} as const

/** Settings without which an acknowledged delivery may be lost. */
const durable: readonly (readonly [name: string, bad: string, why: string])[] = [
  ['fsync', 'off', 'a crash of the machine may lose or damage what was committed'],
  ['full_page_writes', 'off', 'a crash of the machine may leave half-written pages'],
  [
    'synchronous_commit',
    'off',
    'a crash loses the last commits; our connections set it on, a pooler’s do not',
  ],
]

/** Looks at a server and a schema through ordinary reads; what a role may not see is told as such. */
export async function examine(schema: string, run: Run): Promise<Finding[]> {
  const s = quoted(schema)
  const ask = async (name: string, text: string, parameters: readonly SqlValue[] = []) =>
    await run({ name: `counterfoil_doctor_${name}`, writes: false, text }, parameters)
  const askedAt = Date.now()
  const [clock] = await ask('clock', 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now')
  const skewMs = Math.round(clock!.now - (askedAt + Date.now()) / 2)
  const settings = await ask(
    'settings',
    'select name, reset_val as value from pg_settings where name in (select unnest($1::text[]))',
    [`{${durable.map(([name]) => name).join(',')}}`],
  )
  const [oldest] = await ask(
    'oldest',
    `select coalesce(max(extract(epoch from now() - xact_start)), 0)::float8 as seconds,
       count(*) filter (where state is null)::int as hidden
     from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  )
  const [prepared] = await ask(
    'prepared',
    'select coalesce(max(extract(epoch from now() - prepared)), 0)::float8 as seconds from pg_prepared_xacts where database = current_database()',
  )
  const indexes = await ask(
    'indexes',
    `select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
     join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1::text`,
    [schema],
  )
  const tables = await ask(
    'tables',
    `select relname as name, n_dead_tup::float8 as dead, n_live_tup::float8 as live, pg_total_relation_size(relid)::float8 as bytes
     from pg_stat_user_tables where schemaname = $1::text order by relname`,
    [schema],
  )
  const [frozen] = await ask(
    'frozen',
    'select age(datfrozenxid)::float8 as age from pg_database where datname = current_database()',
  )
  const [late] = await ask(
    'late',
    `select count(*)::int as rows from ${s}.open where at < (extract(epoch from clock_timestamp()) * 1000)::bigint - 600000`,
  )
  return [
    ...durable.map(([name, bad, why]) =>
      settings.some((row) => row.name === name && row.value === bad)
        ? finding(name, 'problem', `${name} is ${bad}: ${why}.`, `Set ${name} = on.`)
        : good(name, `${name} is not ${bad}.`),
    ),
    graded(
      'clock',
      Math.abs(skewMs),
      limits.clockMs,
      `The clocks of this machine and the server differ by ${skewMs} ms.`,
      'Leases go by the server’s clock and signatures by this one: keep both on NTP.',
    ),
    graded(
      'oldest transaction',
      oldest!.seconds,
      limits.transactionSeconds,
      `The oldest open transaction of this database is ${Math.round(oldest!.seconds)} s old.`,
      'Look for it in pg_stat_activity; until it ends, dead rows stay in the hot tables.',
    ),
    graded(
      'prepared transactions',
      prepared!.seconds,
      limits.transactionSeconds,
      `The oldest prepared transaction is ${Math.round(prepared!.seconds)} s old.`,
      'COMMIT PREPARED or ROLLBACK PREPARED it.',
    ),
    ...(oldest!.hidden === 0
      ? []
      : [
          finding(
            'visibility',
            'warning',
            `This role does not see ${oldest!.hidden} other sessions.`,
            'GRANT pg_read_all_stats to it, or run doctor as another role.',
          ),
        ]),
    indexFinding(indexes),
    ...tables.map(bloatFinding),
    graded(
      'frozen',
      frozen!.age,
      limits.frozenAge,
      `The oldest unfrozen transaction is ${Math.round(frozen!.age / 1e6)} million transactions old.`,
      'Autovacuum does not keep up: look for what blocks it.',
    ),
    late!.rows === 0
      ? good('late work', 'No effect is overdue by more than ten minutes.')
      : finding(
          'late work',
          'warning',
          `${late!.rows} effects are overdue by more than ten minutes.`,
          'Is a worker running, and is its recipient configured?',
        ),
  ]
}

function indexFinding(found: readonly Row[]): Finding {
  const usable = new Set(found.filter(({ valid }) => valid).map(({ name }) => name as string))
  const missing = expectedIndexes().filter((name) => !usable.has(name))
  return missing.length === 0
    ? good('indexes', 'Every index of the schema is there and valid.')
    : finding(
        'indexes',
        'problem',
        `Missing or invalid: ${missing.join(', ')}.`,
        'Create them again as the migrations have them; without them statements read whole tables.',
      )
}

/** The names that the migrations give. */
function expectedIndexes(): string[] {
  const directory = new URL('./migrations/', import.meta.url)
  const sql = readdirSync(directory).map((file) => readFileSync(new URL(file, directory), 'utf8'))
  return sql.flatMap((text) =>
    [...text.matchAll(/^create (?:unique )?index (\w+)/gm)].map((match) => match[1]!),
  )
}

function bloatFinding({ name, dead, live, bytes }: Row): Finding {
  const check = `table ${name}`
  const megabytes = Math.ceil(bytes / 1_048_576)
  const says = `${name}: about ${live} rows, ${dead} dead ones, ${megabytes} MB.`
  if (dead < limits.deadRows) return good(check, says)
  return graded(
    check,
    dead / Math.max(live, limits.deadRows / 10),
    limits.deadRatio,
    says,
    `VACUUM ${name}, and look for what keeps autovacuum from it.`,
  )
}

export function graded(
  check: string,
  value: number,
  limit: { readonly warning: number; readonly problem: number },
  says: string,
  hint: string,
): Finding {
  if (value < limit.warning) return good(check, says)
  return finding(check, value < limit.problem ? 'warning' : 'problem', says, hint)
}

function good(check: string, says: string): Finding {
  return { check, level: 'good', says, hint: null }
}

function finding(check: string, level: 'warning' | 'problem', says: string, hint: string): Finding {
  return { check, level, says, hint }
}
