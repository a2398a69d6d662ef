/** A value of SQLite and PostgreSQL alike. */
export type SqlValue = string | number | bigint | Uint8Array | null

/**
 * A transaction that somebody else has begun and will end, as far as a store needs it: one statement after the
 * other. An adapter makes one of the handle that the program's own database client gives.
 */
export interface SqlExecutor {
  readonly dialect: 'postgres' | 'sqlite'
  /**
   * Runs one statement, with `$1` for parameters on PostgreSQL and `?` on SQLite.
   *
   * @returns its rows by column name, as the client gives them: bytes as a `Uint8Array`, a bigint as bigint,
   *   number or decimal text
   */
  query(sql: string, parameters: readonly SqlValue[]): Promise<Record<string, unknown>[]>
}
