import { CounterfoilError } from '../../domain/index.ts'
import type { SqlValue } from '../store.ts'
import type { Row } from './connection.ts'

/**
 * Checks a trigger's statement before it is sent. The transaction is ours to end and our tables are ours to
 * write. This reads the text only: what a function or a view of the program does behind it is kept out by
 * `triggerRole`, a role without rights on our tables.
 *
 * @throws CounterfoilError `statement_refused`
 */
export function checkTriggerStatement(sql: string, schema: string): void {
  const code = withoutLiterals(sql).toLowerCase()
  const [first = ''] = /[a-z]+/.exec(code) ?? []
  const ours = code.includes('counterfoil_') || namesSchema(code, schema.toLowerCase())
  const reads = readers.has(first) && !/\b(insert|update|delete|merge|into|truncate)\b/.test(code)
  if (!control.has(first) && (reads || !ours)) return
  throw new CounterfoilError('statement_refused', `A trigger may not run: ${sql.slice(0, 200)}`, {
    hint: `Transaction control, settings and blocks of code are not for triggers, and ${schema}.* may only be read.`,
  })
}

const control: ReadonlySet<string> = new Set([
  ...[
    'begin',
    'start',
    'commit',
    'end',
    'rollback',
    'abort',
    'savepoint',
    'release',
    'prepare',
    'deallocate',
  ],
  ...['set', 'reset', 'discard', 'listen', 'unlisten', 'do', 'call', 'copy', 'execute', 'vacuum', 'reassign'],
])
const readers: ReadonlySet<string> = new Set(['select', 'with', 'values', 'table', 'explain', 'show'])

function namesSchema(code: string, schema: string): boolean {
  const name = schema.replace(/[^a-z0-9_]/g, '\\$&')
  return new RegExp(`(^|[^a-z0-9_$])"?${name}"?(\\s*\\.|\\s*(;|$|\\b(cascade|restrict)\\b))`).test(code)
}

/** Comments and literals say nothing of what a statement does (postgresql.org/docs/current/sql-syntax-lexical.html). */
function withoutLiterals(sql: string): string {
  return sql.replace(
    /(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?\1|e'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\//gi,
    ' ',
  )
}

/** Type numbers of the server's catalogue (src/include/catalog/pg_type.dat). */
const types = { bool: 16, bytea: 17, int8: 20, int2: 21, int4: 23, float4: 700, float8: 701 } as const

/** How a trigger's rows are read: values that SQLite has too, and everything else as the text the server writes. */
export const triggerTypes = {
  getTypeParser(type: number): (text: string) => unknown {
    switch (type) {
      case types.bool:
        return (text) => (text === 't' ? 1 : 0)
      case types.bytea:
        return (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex'))
      case types.int8:
        return (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text))
      case types.int2:
      case types.int4:
      case types.float4:
      case types.float8:
        return Number
      default:
        return (text) => text
    }
  },
} as never

/** @returns a plain object: the driver's rows may have another prototype */
export function toTriggerRow(row: Row): Record<string, SqlValue> {
  return { ...row }
}
