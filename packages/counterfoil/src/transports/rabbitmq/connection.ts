import { type ChannelModel, connect } from 'amqplib'

/** `amqp://user:password@host/vhost` or `amqps://…`, and what `connect` of amqplib takes beside it. */
export interface RabbitServer {
  readonly url: string
  /** For TLS and the like. */
  readonly socketOptions?: Readonly<Record<string, unknown>>
}

/**
 * One connection, which is not mended: a client that connects again by itself sends what it had kept, and that would be
 * late. Whoever wants another one asks again.
 *
 * @typeParam Opened what is opened on it, once
 */
export class Connection<Opened> {
  readonly #server: RabbitServer
  readonly #open: (connection: ChannelModel) => Promise<Opened>
  #current: Promise<{ readonly connection: ChannelModel; readonly opened: Opened }> | undefined

  constructor(server: RabbitServer, open: (connection: ChannelModel) => Promise<Opened>) {
    this.#server = server
    this.#open = open
  }

  /** What there is, or what is opened anew. Rejects when nobody lets us in. */
  async get(): Promise<Opened> {
    this.#current ??= this.#connect()
    const current = this.#current
    return (await current).opened
  }

  /** The next `get` connects anew; what this one was still sending ends with it. */
  forget(): void {
    const current = this.#current
    this.#current = undefined
    current?.then(
      ({ connection }) => connection.close().catch(() => {}),
      () => {},
    )
  }

  async close(): Promise<void> {
    const current = this.#current
    this.#current = undefined
    await current?.then(
      ({ connection }) => connection.close().catch(() => {}),
      () => {},
    )
  }

  #connect() {
    const forget = () => {
      if (this.#current === current) this.#current = undefined
    }
    const current: Promise<{ readonly connection: ChannelModel; readonly opened: Opened }> = (async () => {
      const connection = await connect(this.#server.url, { timeout: 5_000, ...this.#server.socketOptions })
      connection.on('close', forget)
      // Always followed by 'close'.
      connection.on('error', () => {})
      try {
        return { connection, opened: await this.#open(connection) }
      } catch (error) {
        await connection.close().catch(() => {})
        throw error
      }
    })()
    current.catch(forget)
    return current
  }
}

/** Names and codes only: messages of errors may hold addresses and what was sent. */
export function faultOf(error: unknown): string {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  const told = [name, code].filter((one) => typeof one === 'string' || typeof one === 'number')
  return told.length === 0 ? 'an unknown fault' : told.join(' ')
}
