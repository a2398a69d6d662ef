import { isSqlState } from '../store/index.ts'

/** Errors inside errors that are looked into. */
const maxDepth = 6

/**
 * What PostgreSQL said, however deep the client wraps it: Drizzle and MikroORM as `cause`, TypeORM as
 * `driverError`, Prisma as `originalCode` of the cause of `meta.driverAdapterError`.
 */
export function sqlState(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth === maxDepth) return undefined
  const { code, originalCode, cause, driverError, meta, driverAdapterError } = error as Record<
    string,
    unknown
  >
  for (const one of [code, originalCode]) if (isSqlState(one)) return one
  for (const one of [cause, driverError, meta, driverAdapterError]) {
    const found = sqlState(one, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** PostgreSQL rolled back because another transaction was first, or to end a deadlock. */
export function isOvertaken(error: unknown): boolean {
  const state = sqlState(error)
  // Of its own queries Prisma tells no more than this.
  return state === '40001' || state === '40P01' || (error as { code?: unknown } | null)?.code === 'P2034'
}

/** The error with what PostgreSQL said as its `code`, as the driver `pg` has it. */
export function withSqlState(error: unknown): unknown {
  const code = sqlState(error)
  if (code === undefined || (error as { code?: unknown }).code === code) return error
  const message = error instanceof Error ? error.message : String(error)
  return Object.assign(new Error(message, { cause: error }), { code })
}
