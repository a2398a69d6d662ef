import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { CounterfoilError, codeOf, type ErrorCode } from '../../domain/index.ts'

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const sqlite = {
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  protocol: 15,
  notADatabase: 26,
} as const

/** What crosses the thread: a class does not survive it, its fields do. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string | undefined
}

/**
 * Says in our words what SQLite said in its own.
 *
 * @param during at COMMIT a failed sync leaves open what the disk has kept; a trigger's statement may fail by its own fault
 */
export function failureOf(
  error: unknown,
  path: string,
  during: 'work' | 'commit' | 'statement' = 'work',
): Failure {
  const ours = codeOf(error)
  const message = error instanceof Error ? error.message : String(error)
  if (ours !== undefined) {
    return { code: ours, message, hint: error instanceof CounterfoilError ? error.hint : undefined }
  }
  const told = (code: ErrorCode, hint: string): Failure => ({
    code,
    message: `The store ${path}: ${message}.`,
    hint,
  })
  const readOnly = () =>
    told(
      'store_read_only',
      'Make the file and its directory writable for this user: SQLite writes files beside it.',
    )
  switch (primaryCode(error)) {
    case sqlite.full:
      return told('store_full', 'Free space on its disk or raise the limit; work goes on by itself.')
    case sqlite.readOnly:
      return readOnly()
    case sqlite.corrupt:
    case sqlite.notADatabase:
      return told('store_corrupt', 'Check the path. If it is the right file, restore it from a backup.')
    case sqlite.busy:
    case sqlite.locked:
    case sqlite.protocol:
      return told('store_busy', 'Another process holds a transaction on this file; look for a long one.')
    case sqlite.ioError:
      return during === 'commit'
        ? told(
            'commit_unknown',
            'The disk failed while it synced; recovery will tell whether the commit holds.',
          )
        : told('store_unavailable', 'The disk failed; look at the system log.')
    case sqlite.cantOpen:
      if (mayOnlyBeRead(path)) return readOnly()
      return told('store_unavailable', 'Check that the directory exists and may be used by this user.')
    case sqlite.noMemory:
      return told('store_unavailable', 'There is not enough memory.')
    default:
      return during === 'statement'
        ? { code: 'statement_failed', message: `A trigger's statement failed: ${message}.`, hint: undefined }
        : { code: 'internal', message: `The store ${path}: ${message}`, hint: undefined }
  }
}

/** The store as a whole could not do it: no other call of the batch would fare better. */
export function isStoreWide(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'commit_unknown' || (code?.startsWith('store_') ?? false)
}

/** After these the connection is not to be trusted: it is closed, and recovery decides what holds. */
export function breaksConnection(error: unknown): boolean {
  return primaryCode(error) === sqlite.ioError
}

function mayOnlyBeRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
  } catch {
    return false
  }
  try {
    accessSync(path, constants.W_OK)
    accessSync(dirname(path), constants.W_OK)
    return false
  } catch {
    return true
  }
}

function primaryCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

export function toError({ code, message, hint }: Failure): CounterfoilError {
  return new CounterfoilError(code, message, hint === undefined ? {} : { hint })
}
