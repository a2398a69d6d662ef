import pg from 'pg'
import type { SqlValue } from '../store.ts'
import { AnswerLost, endsConnection } from './failure.ts'
import type { Statement } from './statement.ts'

export type Row = Record<string, any>

/** Runs one of our statements: on a connection of ours, or in somebody's transaction. */
export type Run = (statement: Statement, parameters: readonly SqlValue[]) => Promise<Row[]>

export interface ConnectionSettings {
  /** `transaction`: a pooler such as PgBouncer lends a server for one transaction, so nothing is set or prepared on it. */
  readonly pooler: 'none' | 'transaction'
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  /** Server settings, `-c name=value …`; not sent through a pooler. */
  readonly options: string
}

/** How much longer than the server we wait: a commit that waits for a standby has no server-side time limit. */
const answerGraceMs = 5_000

/**
 * What the server warns of when a commit holds here and perhaps not on the standbys: a cancelled or ended wait
 * (src/backend/replication/syncrep.c). Such a commit is not acknowledged.
 */
const doubts: ReadonlySet<string | undefined> = new Set(['57014', '57P01'])

/** One connection to one server. It is used by one transaction at a time. */
export class Connection {
  readonly #client: pg.Client
  readonly #settings: ConnectionSettings
  #lost = false
  #doubtful = false

  private constructor(client: pg.Client, settings: ConnectionSettings) {
    this.#client = client
    this.#settings = settings
    client.on('error', () => this.#lose())
    client.on('end', () => this.#lose())
    client.on('notice', ({ code }) => {
      if (doubts.has(code)) this.#doubtful = true
    })
  }

  /** @throws what the driver throws */
  static async open(url: string, settings: ConnectionSettings): Promise<Connection> {
    const { pooler, connectTimeoutMs, options } = settings
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      application_name: 'counterfoil',
      ...(pooler === 'none' && options !== '' ? { options } : {}),
    })
    const connection = new Connection(client, settings)
    await client.connect()
    return connection
  }

  get isLost(): boolean {
    return this.#lost
  }

  /** @throws AnswerLost, or what the server told */
  async run(statement: Statement, parameters: readonly SqlValue[]): Promise<Row[]> {
    const { name, text } = statement
    // Through a pooler the next statement may meet another server, which has not prepared it.
    const prepared = this.#settings.pooler === 'none' ? { name } : {}
    const { rows } = await this.#answered(() =>
      this.#client.query({ ...prepared, text, values: parameters as unknown[] }),
    )
    return rows
  }

  /** One statement whose text is the caller's; more than one is refused by the protocol that carries it. */
  async runOnce(
    text: string,
    parameters: readonly SqlValue[],
    types: pg.CustomTypesConfig,
  ): Promise<pg.QueryResult> {
    return await this.#answered(() =>
      this.#client.query({
        text,
        values: parameters as unknown[],
        types,
        queryMode: 'extended',
      } as pg.QueryConfig),
    )
  }

  /** Several statements without parameters, in one round trip. @returns what the last one was */
  async script(text: string): Promise<string> {
    const results = await this.#answered(() => this.#client.query(text) as Promise<unknown>)
    const last = Array.isArray(results) ? results.at(-1) : results
    return (last as pg.QueryResult).command
  }

  async listen(channel: string, onNotice: () => void): Promise<void> {
    this.#client.on('notification', onNotice)
    await this.script(`listen "${channel}"`)
  }

  onLost(react: () => void): void {
    this.#client.once('end', react)
  }

  /** Ends it politely; what was lost is dropped. */
  async close(): Promise<void> {
    if (this.#lost) return
    this.#lost = true
    await this.#client.end().catch(() => {})
  }

  /** Ends it without waiting for the server. */
  drop(): void {
    this.#lose()
    const { stream } = (this.#client as unknown as { connection: { stream: { destroy(): void } } }).connection
    stream.destroy()
  }

  async #answered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    this.#doubtful = false
    const timer = setTimeout(() => this.drop(), this.#settings.statementTimeoutMs + answerGraceMs)
    try {
      const answer = await ask()
      if (this.#doubtful) throw new AnswerLost('the commit did not wait for its standbys')
      return answer
    } catch (error) {
      if (endsConnection(error)) this.drop()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  #lose(): void {
    this.#lost = true
  }
}
