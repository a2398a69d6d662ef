import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { RESP_TYPES } from 'redis'
import { CounterfoilError, type Duration, milliseconds } from '../../domain/index.ts'
import type { BrokerMessage, Consumer, Verdict } from '../consumer.ts'
import { type BrokerSide, Consuming, type Session } from '../consuming.ts'
import { Connection, type RedisServer } from './connection.ts'

export interface RedisConsumerOptions {
  readonly server: RedisServer
  readonly stream: string
  /** Name of the consumer group, which all processes of this program share. Made where it does not exist. */
  readonly group: string
  /** The stream that entries are put into that are refused for good, with why. In a cluster: of the same hash slot. */
  readonly deadLetter: string
  /** Entries in hand at once in this process. Default 64. */
  readonly inFlight?: number
  /** How long after its process died an entry is handed over again. Default `30s`. */
  readonly claimAfter?: Duration
  /** Entries handed over more often than this are put aside without another try. Default: no limit. */
  readonly maxDeliveries?: number
}

type Client = Awaited<ReturnType<Connection['get']>>

interface RawEntry {
  readonly id: Buffer
  readonly message: Readonly<Record<string, Buffer>>
}

interface Entry {
  readonly id: string
  /** As bytes: an entry may hold anything. */
  readonly fields: Readonly<Record<string, Buffer>>
  readonly deliveries: number
}

/** How long one reading waits for entries, in milliseconds. */
const blockMs = 200

/**
 * Entries of a Redis stream, by a consumer group; those of dead consumers are claimed. An entry has `content-type` and
 * `body`, or a member `data`; its other fields are its headers.
 *
 * @throws CounterfoilError `config_invalid`
 */
export function redisConsumer(options: RedisConsumerOptions): Consumer {
  return new Consuming(new RedisSide(options), options)
}

class RedisSide implements BrokerSide {
  readonly faultOf = faultOf
  readonly broker = 'redis'
  readonly #options: RedisConsumerOptions
  /** Reading blocks its connection, so that settling has one of its own. */
  readonly #reading: Connection
  readonly #settling: Connection
  readonly #claimAfterMs: number
  /** Of this process: what it has in hand is its own. */
  readonly #name = `counterfoil-${randomUUID()}`

  constructor(options: RedisConsumerOptions) {
    this.#options = options
    this.#reading = new Connection(options.server)
    this.#settling = new Connection(options.server)
    this.#claimAfterMs = milliseconds(options.claimAfter ?? '30s')
    if (this.#claimAfterMs >= 100) return
    throw new CounterfoilError(
      'config_invalid',
      'The claimAfter of a Redis consumer is shorter than 100 ms.',
      {
        hint: 'Give the time after which an entry of a process that died comes again, such as 30s.',
      },
    )
  }

  async session(session: Session): Promise<void> {
    const client = await this.#reading.get()
    await this.#join(client)
    let claimAt = 0
    while (!session.stop.aborted) {
      await session.inHand.room()
      if (Date.now() >= claimAt) {
        await this.#claim(client, session)
        claimAt = Date.now() + this.#claimAfterMs / 2
      } else await this.#read(client, session)
      session.onGood()
    }
  }

  async close(): Promise<void> {
    await this.#leave()
    await this.#reading.close()
    await this.#settling.close()
  }

  async #join(client: Client): Promise<void> {
    const { stream, group } = this.#options
    await client.xGroupCreate(stream, group, '0', { MKSTREAM: true }).catch((error: unknown) => {
      if (!(error instanceof Error && error.message.startsWith('BUSYGROUP'))) throw error
    })
  }

  /** Entries that nobody was handed yet. */
  async #read(client: Client, session: Session): Promise<void> {
    const { stream, group } = this.#options
    const answer = await bytesOf(client).xReadGroup(
      group,
      this.#name,
      { key: stream, id: '>' },
      { COUNT: session.inHand.free, BLOCK: blockMs },
    )
    const [read] = (answer ?? []) as unknown as { readonly messages: readonly RawEntry[] }[]
    for (const { id, message } of read?.messages ?? [])
      this.#hold({ id: String(id), fields: message, deliveries: 1 }, session)
  }

  /** Entries whose consumer has not been heard of for a while. Those that were deleted meanwhile are passed over. */
  async #claim(client: Client, session: Session): Promise<void> {
    const { stream, group } = this.#options
    const claimed = await bytesOf(client).xAutoClaim(stream, group, this.#name, this.#claimAfterMs, '0-0', {
      COUNT: session.inHand.free,
    })
    for (const entry of claimed.messages as unknown as readonly (RawEntry | null)[]) {
      if (entry === null) continue
      const { message } = entry
      const id = String(entry.id)
      const [pending] = await client.xPendingRange(stream, group, id, id, 1)
      this.#hold({ id, fields: message, deliveries: pending?.deliveriesCounter ?? 1 }, session)
    }
  }

  #hold(entry: Entry, session: Session): void {
    session.inHand.hold(this.#settle(entry, session))
  }

  async #settle(entry: Entry, { take, onFault, stop }: Session): Promise<void> {
    const { stream, group } = this.#options
    // While it is in hand nobody claims it.
    const alive = setInterval(() => void this.#touch(entry.id), this.#claimAfterMs / 3)
    try {
      let again = entry
      for (;;) {
        const verdict = await take(this.#toMessage(again))
        if (verdict.kind === 'reject') return await this.#putAside(entry, verdict)
        if (verdict.kind === 'acknowledge') {
          const client = await this.#settling.get()
          await client.xAck(stream, group, entry.id)
          return
        }
        // Streams know no delay: it is kept here, and left for the next one where this process stops.
        const waited = await wait(verdict.afterMs, true, { signal: stop }).catch(() => false)
        if (!waited) return
        const client = await this.#settling.get()
        await client.xClaim(stream, group, this.#name, 0, entry.id)
        again = { ...again, deliveries: again.deliveries + 1 }
      }
    } catch (error) {
      // Not settled: it is claimed again.
      onFault(faultOf(error))
    } finally {
      clearInterval(alive)
    }
  }

  async #touch(id: string): Promise<void> {
    const { stream, group } = this.#options
    try {
      const client = await this.#settling.get()
      await client.xClaimJustId(stream, group, this.#name, 0, id)
    } catch {
      // Then another one claims it: handed over twice, and its receipt tells.
    }
  }

  /** Both or neither. */
  async #putAside({ id, fields }: Entry, { code, why }: Extract<Verdict, { kind: 'reject' }>): Promise<void> {
    const { stream, group, deadLetter } = this.#options
    const refused = {
      ...fields,
      'counterfoil-refused': code,
      'counterfoil-why': why.slice(0, 200),
      'counterfoil-from': `${stream} ${id}`,
    }
    const client = await this.#settling.get()
    await client.multi().xAdd(deadLetter, '*', refused).xAck(stream, group, id).exec()
  }

  #toMessage({ id, fields, deliveries }: Entry): BrokerMessage {
    const { body, data, ...others } = fields
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(others)) headers[name.toLowerCase()] = value.toString('latin1')
    return {
      headers,
      body: body ?? data ?? new Uint8Array(0),
      deliveries,
      position: `${this.#options.stream} ${id}`,
    }
  }

  /** A group remembers its consumers for ever, unless they go. One that still has entries stays, for them to be claimed. */
  async #leave(): Promise<void> {
    const { stream, group } = this.#options
    try {
      const client = await this.#settling.get()
      const left = await client.xPendingRange(stream, group, '-', '+', 1, { consumer: this.#name })
      if (left.length === 0) await client.xGroupDelConsumer(stream, group, this.#name)
    } catch {
      // The next one claims what is left.
    }
  }
}

function bytesOf(client: Client) {
  return client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
}

function faultOf(error: unknown): string {
  const { name = 'an unknown fault', message = '' } = error instanceof Error ? error : {}
  const [word = ''] = message.split(' ')
  return /^[A-Z]{2,20}$/.test(word) ? word : name
}
