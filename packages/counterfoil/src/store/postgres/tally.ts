import { quoted, type Statement } from './statement.ts'

/** Commits of this process between two foldings. */
const foldAfter = 2_000

/** Keeps the table of totals short: one row a commit is folded into one row a name, now and then. */
export class Tally {
  readonly #fold: Statement
  readonly #run: (statement: Statement) => Promise<unknown>
  #commits = 0

  constructor(schema: string, run: (statement: Statement) => Promise<unknown>) {
    this.#fold = foldStatement(schema)
    this.#run = run
  }

  /** A commit may have left a row. */
  written(): void {
    if (++this.#commits < foldAfter) return
    this.#commits = 0
    // Left undone, it is done another time.
    this.#run(this.#fold).catch(() => {})
  }
}

/** Readers see the old rows or the new ones, never both; who folds at the same time takes other rows. */
export function foldStatement(schema: string): Statement {
  const s = quoted(schema)
  return {
    name: 'counterfoil_fold',
    writes: true,
    text: `
with picked as materialized (select ctid from ${s}.tally limit 10000 for update skip locked),
gone as (delete from ${s}.tally where ctid = any(array(select ctid from picked)) returning name, value)
insert into ${s}.tally (name, value) select name, sum(value) from gone group by name`,
  }
}
