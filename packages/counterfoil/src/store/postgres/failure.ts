import { CounterfoilError, codeOf, type ErrorCode } from '../../domain/index.ts'
import { isSqlState } from '../sql-state.ts'

/** The answer never came: the connection ended, or our patience did. */
export class AnswerLost extends Error {
  override readonly name = 'AnswerLost'
}

/** What the server tells of an error (postgresql.org/docs/current/protocol-error-fields.html). */
interface Told {
  readonly code?: string
  readonly severity?: string
  readonly message: string
}

/** The server rolled back and says that the same call may succeed now. */
export function isOvertaken(error: unknown): boolean {
  const code = sqlState(error)
  return code === '40001' || code === '40P01'
}

export function sqlState(error: unknown): string | undefined {
  const code = (error as Told | null)?.code
  return isSqlState(code) ? code : undefined
}

/** The session is over with this error. */
export function endsConnection(error: unknown): boolean {
  const { severity } = error as Told
  return sqlState(error) === undefined || severity === 'FATAL' || severity === 'PANIC' || notPrimary(error)
}

/** A standby, or a primary that was put aside: somewhere else there is one that writes. */
function notPrimary(error: unknown): boolean {
  return sqlState(error) === '25006'
}

/**
 * Says in our words what PostgreSQL said in its own (postgresql.org/docs/current/errcodes-appendix.html).
 *
 * @param writes a lost answer leaves open whether a writing statement committed; reading or connecting leaves nothing open
 */
export function toError(
  error: unknown,
  location: string,
  during: 'connect' | 'read' | 'write' | 'statement',
): CounterfoilError {
  if (error instanceof CounterfoilError) return error
  const message = error instanceof Error ? error.message : String(error)
  const told = (code: ErrorCode, hint?: string) =>
    new CounterfoilError(code, `The store ${location}: ${message}.`, {
      cause: error,
      ...(hint === undefined ? {} : { hint }),
    })
  const failed = () =>
    new CounterfoilError('statement_failed', `A trigger's statement failed: ${message}.`, { cause: error })
  const state = sqlState(error)
  if (state === undefined || (endsConnection(error) && !notPrimary(error))) {
    // A FATAL may come between the commit and its answer.
    return during === 'write'
      ? told('commit_unknown', 'The connection ended before the answer; asking again shows what holds.')
      : told(
          'store_unavailable',
          connectionHints[state ?? ''] ?? 'Is the server up, and reachable from here?',
        )
  }
  // A trigger's own tables and rights are its own affair.
  if (during === 'statement' && (state.startsWith('42') || state === '3F000')) return failed()
  const known = codes[state] ?? codes[state.slice(0, 2)]
  if (known !== undefined) return told(...known)
  return during === 'statement' ? failed() : told('internal')
}

/** The store as a whole could not do it: no other call of the batch would fare better. */
export function isStoreWide(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'commit_unknown' || (code?.startsWith('store_') ?? false)
}

const connectionHints: Readonly<Record<string, string>> = {
  '28P01': 'User or password are wrong.',
  '28000': 'The server does not let this user in from here (pg_hba.conf).',
  '3D000': 'There is no database of that name.',
  '53300':
    'The server has no connection left: lower maxConnections, raise max_connections, or put a pooler between.',
}

/** By SQLSTATE, or by its class. */
const codes: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  '53': ['store_unavailable', 'The server lacks memory or connections.'],
  '53100': ['store_full', 'Free space on its disk; work goes on by itself.'],
  '25006': [
    'store_unavailable',
    'This server is a standby; the primary is looked for among the hosts of the URL.',
  ],
  '40003': ['commit_unknown', 'Asking again shows what holds.'],
  '40': ['store_busy', 'Others changed the same rows again and again; look for a long transaction.'],
  '42501': ['store_read_only', 'Grant the role of this process what docs/postgres.md lists.'],
  '42P01': ['store_schema_older', 'Run: counterfoil migrate'],
  '3F000': ['store_schema_older', 'Run: counterfoil migrate'],
  '55P03': ['store_busy', 'Another transaction holds what this one needs; look for a long one.'],
  '57014': ['store_busy', 'It took longer than statementTimeoutMs; look for a lock or a slow disk.'],
  '57': ['store_unavailable', 'The server is starting or stopping.'],
  '58': ['store_unavailable', 'The server met a failing disk; look at its log.'],
  XX001: ['store_corrupt', 'The server found damaged data; restore a backup.'],
  XX002: ['store_corrupt', 'The server found a damaged index: REINDEX it.'],
}
