import { createClient } from 'redis'

/** Where the server is and how this program is let in: what `createClient` of `redis` takes, but for reconnecting. */
export interface RedisServer {
  /** `redis://user:password@host:6379`, or `rediss:` with TLS. */
  readonly url: string
  /** Milliseconds. Default 5000. */
  readonly connectTimeoutMs?: number
}

type Client = ReturnType<typeof open>

/**
 * One connection, which is not mended: a client that connects again by itself sends what it had kept, and that would be
 * late. Whoever wants another one asks again.
 */
export class Connection {
  readonly #server: RedisServer
  #opening: Promise<Client> | undefined

  constructor(server: RedisServer) {
    this.#server = server
  }

  /** The connection that there is, or a new one. Rejects when nobody lets us in. */
  get(): Promise<Client> {
    if (this.#opening !== undefined) return this.#opening
    const client = open(this.#server)
    const forget = () => {
      if (this.#opening === opening) this.#opening = undefined
    }
    // Somebody must listen, or a lost connection ends the process.
    client.on('error', forget).on('end', forget)
    const opening: Promise<Client> = client.connect().then(
      () => client,
      (error) => {
        forget()
        throw error
      },
    )
    this.#opening = opening
    return opening
  }

  /** Commands in flight are rejected. */
  async close(): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    await opening?.then(
      (client) => {
        if (client.isOpen) client.destroy()
      },
      () => {},
    )
  }
}

function open({ url, connectTimeoutMs = 5_000 }: RedisServer) {
  return createClient({
    url,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: false, connectTimeout: connectTimeoutMs },
  })
}
