import type { ServerResponse } from 'node:http'
import type { Counterfoil } from '../counterfoil.ts'
import { type Arrival, alreadyRead, fromNode, type NodeRequest, withBody } from '../intake/index.ts'

/** What a framework on Node's HTTP server adds to a request. */
export type FrameworkRequest = NodeRequest & {
  /** What a body parser made of it. Bytes, when it is `express.raw()`. */
  readonly body?: unknown
  /** The raw bytes, where a framework keeps them beside what it parsed: Nest with `rawBody: true`. */
  readonly rawBody?: unknown
}

/** Only as much of the application as a receiver needs. */
export type Receives = Pick<Counterfoil, 'receiveArrival'>

/**
 * A request whose raw bytes are on the socket, or where a parser kept them. A parser that kept a value alone is refused
 * when the body is asked for (`body_already_read`, 503): written as JSON again it is not what was signed.
 */
export function arrivalOf(request: FrameworkRequest): Arrival {
  const arrival = fromNode(request)
  if (!request.readableDidRead) return arrival
  const kept = [request.rawBody, request.body].find((bytes) => bytes instanceof Uint8Array)
  if (kept === undefined) return { ...arrival, readBody: () => Promise.reject(alreadyRead()) }
  // The parsers that keep bytes have undone the content coding, and left the header that names it.
  const header = (name: string) => (name === 'content-encoding' ? null : arrival.header(name))
  return withBody({ ...arrival, header }, kept)
}

/** Writes an answer to a request of Node's HTTP server. */
export async function answer(response: ServerResponse, from: Response): Promise<void> {
  const body = Buffer.from(await from.arrayBuffer())
  response.writeHead(from.status, { ...Object.fromEntries(from.headers), 'content-length': body.byteLength })
  response.end(body)
}
