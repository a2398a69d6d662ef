/** A value of SQLite and PostgreSQL alike. */
export type SqlValue = string | number | bigint | Uint8Array | null

/**
 * A transaction that the program owns: it began it, and it commits it or rolls it back. An adapter makes one of
 * the program's own driver or query builder.
 */
export interface SqlExecutor {
  readonly dialect: 'postgres' | 'sqlite'
  /**
   * Runs one statement with the dialect's own placeholders (`$1`, or `?1`) and gives its rows. Bytes come back
   * as a `Uint8Array` or a `Buffer`; integers as number, bigint or decimal text.
   */
  query(sql: string, parameters: readonly SqlValue[]): Promise<Record<string, unknown>[]>
}
