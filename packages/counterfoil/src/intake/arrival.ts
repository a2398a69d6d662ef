import type { IncomingMessage } from 'node:http'
import type { Clock } from '../domain/index.ts'
import {
  alreadyRead,
  type BodyLimits,
  type BodyReading,
  broken,
  Gathering,
  statedBody,
  tooLarge,
  tooSlow,
} from './body-limits.ts'
import { readBody } from './read-body.ts'

/** A request whose body has not been read, from whatever server it came. */
export interface Arrival {
  readonly method: string
  /** A whole URL, or its path. */
  readonly url: string
  /** Of the connection that it came over: `http` or `https`. */
  readonly scheme: string
  /** By lower-case name; null when absent. */
  header(name: string): string | null
  headers(): Iterable<readonly [name: string, value: string]>
  /** False when there are more than `maxHeaders`, or they are larger than `maxHeaderBytes` together. */
  headersFit(): boolean
  readBody(limits: BodyLimits, clock: Clock): Promise<BodyReading>
}

/** Headers of one delivery; no sender that we know has half as many. */
export const maxHeaders = 100
/** Bytes of all header names and values; Node's own limit is lower unless it was raised. */
export const maxHeaderBytes = 65_536

/** A Fetch request. Whoever made it of a connection has limited its headers: to go through them costs half of all intake. */
export function fromRequest(request: Request): Arrival {
  const { headers } = request
  return {
    method: request.method,
    url: request.url,
    scheme: request.url.slice(0, request.url.indexOf(':')),
    header: (name) => headerOf(headers, name),
    headers: () => headers,
    headersFit: () => true,
    readBody: (limits, clock) => readBody(request, limits, clock),
  }
}

/** Some kinds ask for a name that the sender chose. One that no header can have is absent, and no reason to throw. */
function headerOf(headers: Headers, name: string): string | null {
  try {
    return headers.get(name)
  } catch {
    return null
  }
}

/**
 * A request of Node's HTTP server, read from the socket without a web stream in between: that stream costs more
 * than all the rest of intake.
 */
export function fromIncoming(incoming: IncomingMessage): Arrival {
  const header = (name: string) => {
    // Own names alone: `constructor` is no header because every object has one.
    const value = Object.hasOwn(incoming.headers, name) ? incoming.headers[name] : undefined
    return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value
  }
  return {
    method: incoming.method ?? '',
    url: incoming.url ?? '',
    scheme: 'encrypted' in incoming.socket ? 'https' : 'http',
    header,
    headers: () => Object.keys(incoming.headers).map((name) => [name, header(name)!] as const),
    headersFit: () => fits(incoming.rawHeaders),
    readBody: (limits, clock) => readIncoming(incoming, header, limits, clock),
  }
}

/** A request of Node's HTTP server, or of a framework on it. */
export type NodeRequest = IncomingMessage & {
  /** What Express and Nest keep of the path when a router is mounted below one. */
  readonly originalUrl?: string
}

/** The same as `fromIncoming`, with the path as the client sent it. */
export function fromNode(request: NodeRequest): Arrival {
  return { ...fromIncoming(request), url: request.originalUrl ?? request.url ?? '' }
}

/** An arrival whose body somebody has read: these were its bytes. */
export function withBody(arrival: Arrival, body: Uint8Array): Arrival {
  return {
    ...arrival,
    readBody: async ({ maxBytes }) =>
      body.byteLength > maxBytes ? tooLarge(maxBytes) : { kind: 'read', body },
  }
}

function fits(rawHeaders: readonly string[]): boolean {
  if (rawHeaders.length > 2 * maxHeaders) return false
  let bytes = 0
  for (const text of rawHeaders) bytes += text.length
  return bytes <= maxHeaderBytes
}

/** What is not read stays in the socket: the server drains or closes it after the answer. */
function readIncoming(
  incoming: IncomingMessage,
  header: Arrival['header'],
  limits: BodyLimits,
  clock: Clock,
): Promise<BodyReading> {
  const stated = statedBody(header, limits)
  if (stated.refusal !== null) return Promise.resolve(stated.refusal)
  if (incoming.destroyed && !incoming.readableDidRead) return Promise.resolve(broken)
  if (incoming.readableDidRead) return Promise.reject(alreadyRead())
  const gathering = new Gathering(limits.maxBytes)
  return new Promise((resolve) => {
    const finish = (reading: BodyReading) => {
      cancelTimer()
      incoming.off('data', onData).off('end', onEnd).off('close', onBroken).off('error', onBroken)
      // Somebody must listen, or a connection that is reset later ends the process.
      if (reading.kind === 'refused') incoming.on('error', () => {}).pause()
      resolve(reading)
    }
    const onData = (chunk: Uint8Array) => {
      if (!gathering.add(chunk)) finish(tooLarge(limits.maxBytes))
    }
    const onEnd = () => finish(gathering.end(stated.length))
    const onBroken = () => finish(broken)
    const cancelTimer = clock.after(limits.maxReadMs, () => finish(tooSlow(limits.maxReadMs)))
    incoming.on('data', onData).on('end', onEnd).on('close', onBroken).on('error', onBroken)
  })
}
