/** Serialization failure and deadlock (postgresql.org/docs, appendix A); what Prisma makes of both. */
const codes: ReadonlySet<unknown> = new Set(['40001', '40P01', 'P2034'])
/** Errors inside errors that are looked into. */
const maxDepth = 5

/**
 * PostgreSQL rolled back because another transaction was first, however deep the client wraps what it said:
 * Drizzle and MikroORM as `cause`, TypeORM as `driverError`.
 */
export function isOvertaken(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth === maxDepth) return false
  const { code, cause, driverError } = error as Record<string, unknown>
  return codes.has(code) || [cause, driverError].some((inner) => isOvertaken(inner, depth + 1))
}
