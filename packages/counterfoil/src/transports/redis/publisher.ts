import { structuredMessage } from '../../intake/index.ts'
import type { Message } from '../message.ts'
import type { PublishAbout, Published, Publisher } from '../publisher.ts'
import { Connection, type RedisServer } from './connection.ts'
import { readFailure } from './outcomes.ts'

/**
 * Adds an entry unless this id was added within the window. One script, so that nothing comes between. KEYS: the stream,
 * and what remembers the id. ARGV: the window in milliseconds, then names and values of the entry.
 */
const addOnce = `
local known = redis.call('get', KEYS[2])
if known then return {known, 1} end
local entry = redis.call('xadd', KEYS[1], '*', unpack(ARGV, 2))
redis.call('set', KEYS[2], entry, 'px', ARGV[1])
return {entry, 0}`

/**
 * CloudEvents in structured mode as entries of a stream: `id`, the idempotency key, `content-type` and `body`. Confirmed
 * by the id that Redis gives the entry.
 */
export class RedisPublisher implements Publisher {
  readonly broker = 'redis'
  readonly #connection: Connection
  readonly #windowMs: number | null

  /** @param windowMs how long an id is remembered; null: every call adds an entry */
  constructor(server: RedisServer, windowMs: number | null) {
    this.#connection = new Connection(server)
    this.#windowMs = windowMs
  }

  async publish(message: Message, { signal, deadline }: PublishAbout): Promise<Published> {
    if (signal.aborted) return { kind: 'notActed', why: 'it was stopped before it began' }
    let client: Awaited<ReturnType<Connection['get']>>
    try {
      client = await this.#connection.get()
    } catch (error) {
      return {
        kind: 'notActed',
        why: `no connection to Redis (${error instanceof Error ? error.name : 'unknown'})`,
      }
    }
    if (signal.aborted) return { kind: 'notActed', why: 'it was stopped before it was sent' }
    const { headers, body } = structuredMessage(message.event)
    const entry = {
      id: message.id,
      'content-type': headers['content-type'] ?? '',
      body: Buffer.from(body).toString(),
    }
    try {
      return await inTime(this.#add(client, message, entry), deadline)
    } catch (error) {
      return readFailure(error)
    }
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  async #add(
    client: Awaited<ReturnType<Connection['get']>>,
    { to, duplicateId }: Message,
    entry: Readonly<Record<string, string>>,
  ): Promise<Published> {
    if (this.#windowMs === null) {
      return { kind: 'confirmed', position: `${to} ${await client.xAdd(to, '*', entry)}` }
    }
    const answer = await client.eval(addOnce, {
      keys: [to, rememberedAt(to, duplicateId)],
      arguments: [String(this.#windowMs), ...Object.entries(entry).flat()],
    })
    if (!Array.isArray(answer)) return { kind: 'unknown', why: 'the answer is not that of our script' }
    const [position, known] = answer
    return { kind: 'confirmed', position: `${to} ${position}`, duplicate: known === 1 }
  }
}

/** In the hash slot of its stream, for a cluster: the stream's own hash tag, or its whole name as one. */
function rememberedAt(stream: string, id: string): string {
  return /\{[^}]+\}/.test(stream) ? `${stream}:counterfoil:${id}` : `{${stream}}:counterfoil:${id}`
}

async function inTime(published: Promise<Published>, deadline: number): Promise<Published> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Published>((resolve) => {
    timer = setTimeout(
      () => resolve({ kind: 'unknown', why: 'no answer came in time' }),
      Math.max(1, deadline - Date.now()),
    )
  })
  // Rejected after the deadline, nobody asks for it any more.
  published.catch(() => {})
  try {
    return await Promise.race([published, late])
  } finally {
    clearTimeout(timer)
  }
}
