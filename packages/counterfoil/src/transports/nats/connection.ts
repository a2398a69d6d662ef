import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node'

/**
 * Where the servers are and how this program is let in: what `connect` of `@nats-io/transport-node` takes, but for
 * what decides on reconnecting.
 */
export type NatsServers = Omit<
  NodeConnectionOptions,
  'reconnect' | 'maxReconnectAttempts' | 'waitOnFirstConnect' | 'ignoreServerUpdates'
>

/**
 * One connection, which is not mended: a client that connects again by itself sends what it had kept, and that would be
 * late. Whoever wants another one asks again.
 */
export class Connection {
  readonly #servers: NatsServers
  #open: Promise<NatsConnection> | undefined

  constructor(servers: NatsServers) {
    this.#servers = servers
  }

  /** The connection that there is, or a new one. Rejects when nobody lets us in. */
  get(): Promise<NatsConnection> {
    if (this.#open !== undefined) return this.#open
    const opening = connect({
      // A server that vanished without a word is noticed after two of these, in milliseconds.
      pingInterval: 10_000,
      timeout: 5_000,
      noAsyncTraces: true,
      ...this.#servers,
      reconnect: false,
    })
    this.#open = opening
    const forget = () => {
      if (this.#open === opening) this.#open = undefined
    }
    opening.then((made) => made.closed().then(forget), forget)
    return opening
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.then(
      (made) => made.close(),
      () => {},
    )
  }
}
