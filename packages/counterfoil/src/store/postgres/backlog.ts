import { quoted, type Statement } from './statement.ts'

/** Receipts that wait for their plan, from the table of totals, which is folded to stay short (tally.ts). */
export function backlogStatement(schema: string): Statement {
  return {
    name: 'counterfoil_backlog',
    writes: false,
    text: `select coalesce(sum(value), 0)::float8 as waiting from ${quoted(schema)}.tally where name = 'waiting'`,
  }
}
