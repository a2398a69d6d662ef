import { Connection, type ConnectionSettings } from './connection.ts'

const firstWaitMs = 100
const lastWaitMs = 10_000

/**
 * LISTEN on a connection of its own: tells that another process may have left work. Only a hint. Notices may be
 * missed while the connection is away, so coming back counts as one.
 */
export class Hints {
  readonly #urls: readonly string[]
  readonly #settings: ConnectionSettings
  readonly #channel: string
  readonly #listeners = new Set<() => void>()
  #connection: Connection | undefined
  #running = false
  #cancelRetry: (() => void) | undefined

  constructor(urls: readonly string[], settings: ConnectionSettings, channel: string) {
    this.#urls = urls
    this.#settings = settings
    this.#channel = channel
  }

  /** @returns the end of it */
  watch(onWork: () => void): () => void {
    this.#listeners.add(onWork)
    if (!this.#running) {
      this.#running = true
      void this.#connect(firstWaitMs, 0)
    }
    return () => {
      this.#listeners.delete(onWork)
      if (this.#listeners.size === 0) void this.close()
    }
  }

  async close(): Promise<void> {
    this.#running = false
    this.#cancelRetry?.()
    const connection = this.#connection
    this.#connection = undefined
    await connection?.close()
  }

  async #connect(waitMs: number, host: number): Promise<void> {
    try {
      const connection = await Connection.open(this.#urls[host % this.#urls.length]!, this.#settings)
      if (!this.#running) return await connection.close()
      this.#connection = connection
      connection.onLost(() => this.#again(firstWaitMs, host))
      await connection.listen(this.#channel, () => this.#tell())
      this.#tell()
    } catch {
      // Whoever polls does not need us: polling is the truth.
      if (this.#connection === undefined) this.#again(Math.min(waitMs * 2, lastWaitMs), host + 1)
    }
  }

  #again(waitMs: number, host: number): void {
    this.#connection = undefined
    if (!this.#running) return
    const timer = setTimeout(() => void this.#connect(waitMs, host), waitMs)
    timer.unref()
    this.#cancelRetry = () => clearTimeout(timer)
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
