/** The classes of PostgreSQL's codes: a digit leads, or one of these (postgresql.org/docs/current/errcodes-appendix.html). */
const pattern = /^(?:\d[0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/

/** Whether an error's code is one of PostgreSQL, and not of Node (EPIPE) or of a client (P2010 of Prisma). */
export function isSqlState(code: unknown): code is string {
  return typeof code === 'string' && pattern.test(code)
}
