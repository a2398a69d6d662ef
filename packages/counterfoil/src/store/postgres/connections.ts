import { assert, CounterfoilError } from '../../domain/index.ts'
import { Connection, type ConnectionSettings } from './connection.ts'
import { isOvertaken, toError } from './failure.ts'
import type { Statement } from './statement.ts'

const firstWaitMs = 50
const lastWaitMs = 2_000
/** Runs of one transaction that others overtook. */
const maxTries = 8

/**
 * A few connections to whichever host takes writes now. After a failure the hosts are tried again with growing
 * pauses, in which callers are told at once.
 */
export class Connections {
  readonly #urls: readonly string[]
  readonly #location: string
  readonly #settings: ConnectionSettings
  readonly #most: number
  readonly #idle: Connection[] = []
  readonly #waiting: (() => void)[] = []
  #open = 0
  /** Index of the host that was the primary last. */
  #primary = 0
  #waitMs = firstWaitMs
  #nextTryAt = 0
  #failure: CounterfoilError | undefined

  constructor(urls: readonly string[], location: string, settings: ConnectionSettings, most: number) {
    this.#urls = urls
    this.#location = location
    this.#settings = settings
    this.#most = most
  }

  /**
   * Runs work that is a transaction of its own, again when another one overtook it.
   *
   * @throws CounterfoilError
   */
  async transact<Value>(
    during: 'read' | 'write',
    work: (connection: Connection) => Promise<Value>,
  ): Promise<Value> {
    for (let tries = 1; ; tries++) {
      const connection = await this.take()
      try {
        return await work(connection)
      } catch (error) {
        if (!isOvertaken(error) || tries === maxTries) throw toError(error, this.#location, during)
      } finally {
        this.giveBack(connection)
      }
      // Apart by chance, so that those who met do not meet again.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** tries))
    }
  }

  /** One transaction of many statements: each sees what was committed when it began. */
  async commit<Value>(work: (connection: Connection) => Promise<Value>): Promise<Value> {
    return await this.transact('write', async (connection) => {
      await connection.script('begin isolation level read committed')
      try {
        const value = await work(connection)
        assert((await connection.script('commit')) === 'COMMIT', 'a transaction without a failure commits')
        return value
      } catch (error) {
        if (!connection.isLost) await connection.script('rollback')
        throw error
      }
    })
  }

  /** @throws CounterfoilError when no host takes writes */
  async take(): Promise<Connection> {
    for (;;) {
      const idle = this.#idle.pop()
      if (idle !== undefined && !idle.isLost) return idle
      if (idle !== undefined) {
        this.#open--
        continue
      }
      if (this.#open < this.#most) break
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    this.#open++
    try {
      return await this.#connect()
    } catch (error) {
      this.#gone()
      throw error
    }
  }

  giveBack(connection: Connection): void {
    if (connection.isLost) {
      this.#gone()
      return
    }
    this.#idle.push(connection)
    this.#waiting.shift()?.()
  }

  /** Closes what is idle; what is in use is closed by whoever uses it. */
  async close(): Promise<void> {
    const idle = this.#idle.splice(0)
    this.#open -= idle.length
    this.#nextTryAt = 0
    await Promise.all(idle.map((connection) => connection.close()))
  }

  #gone(): void {
    this.#open--
    this.#waiting.shift()?.()
  }

  async #connect(): Promise<Connection> {
    if (performance.now() < this.#nextTryAt && this.#failure !== undefined) throw this.#failure
    let failure: unknown
    for (let step = 0; step < this.#urls.length; step++) {
      const index = (this.#primary + step) % this.#urls.length
      try {
        const connection = await this.#connectTo(this.#urls[index]!)
        this.#primary = index
        this.#waitMs = firstWaitMs
        this.#failure = undefined
        return connection
      } catch (error) {
        failure ??= error
      }
    }
    this.#nextTryAt = performance.now() + this.#waitMs
    this.#waitMs = Math.min(this.#waitMs * 2, lastWaitMs)
    this.#failure = toError(failure, this.#location, 'connect')
    throw this.#failure
  }

  async #connectTo(url: string): Promise<Connection> {
    const connection = await Connection.open(url, this.#settings)
    try {
      const isOurs = this.#settings.pooler === 'none'
      const [server] = await connection.run(serverStatement(isOurs), [])
      if (server!.version < 150_000) {
        throw new CounterfoilError(
          'store_unavailable',
          `The store ${this.#location} is PostgreSQL ${server!.release}.`,
          {
            hint: 'Counterfoil needs PostgreSQL 15 or newer.',
          },
        )
      }
      if (server!.standby) {
        throw new CounterfoilError(
          'store_unavailable',
          `The store ${this.#location}: no host of it takes writes.`,
          {
            hint: 'Name the primary too, or promote a standby.',
          },
        )
      }
      if (!isOurs && server!.durability === 'off') throw this.#notDurable()
      return connection
    } catch (error) {
      connection.drop()
      throw error
    }
  }

  #notDurable(): CounterfoilError {
    return new CounterfoilError(
      'store_unavailable',
      `The store ${this.#location} has synchronous_commit = off: what it says is committed may be lost.`,
      { hint: 'ALTER ROLE … SET synchronous_commit = on' },
    )
  }
}

/** The server at the other end. A session of our own that would commit without waiting for the disk is set to wait. */
const serverStatement = (isOurs: boolean): Statement => ({
  name: 'counterfoil_server',
  writes: false,
  text: `
    select current_setting('server_version_num')::int as version, current_setting('server_version') as release,
      pg_is_in_recovery() as standby, current_setting('synchronous_commit') as durability
      ${isOurs ? ", case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end" : ''}`,
})
