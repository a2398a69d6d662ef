import type { SqlExecutor } from './sql-executor.ts'

/**
 * The program's own database client, as far as plans and published events need it: made by one of
 * `counterfoil/adapters/…`.
 *
 * @typeParam Tx the client's own handle of a transaction
 */
export interface Transactions<Tx> {
  /** Which client it is, for error texts: `kysely`. */
  readonly client: string
  /**
   * Begins a transaction, does the work in it, commits when the work fulfils and rolls back when it rejects. A
   * client that tries again does all of the work again.
   *
   * @param limits how long the work may take, for clients that want to know it beforehand
   */
  run<Result>(work: (tx: Tx) => Promise<Result>, limits: { readonly timeoutMs: number }): Promise<Result>
  /** The database rolled back because another transaction was first: the same work may succeed now. */
  isOvertaken(error: unknown): boolean
  /**
   * The transaction as a store sees it.
   *
   * @throws CounterfoilError `transaction_missing` when the handle is not in a transaction that is open
   */
  executor(tx: Tx): Promise<SqlExecutor>
}
