import type { Exchange } from '../domain/index.ts'

/** A body that is read while it goes out. */
export interface StreamedBody {
  /** In bytes: sent as `content-length`. */
  readonly length: number
  /** Read at most once. When it fails, the request is cut off and never becomes whole. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** One HTTP request: what goes out is decided before anything goes out. */
export interface NetworkRequest {
  /** `http:` or `https:`. User name, password and fragment are not sent. */
  readonly url: URL
  readonly method: string
  /** Never `host`, `content-length` or another header that frames the message: the network writes those. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
  /** In place of `body`, which is null then. */
  readonly bodyStream?: StreamedBody
  /** Milliseconds from the call to the last byte of the answer, whatever they are spent on. */
  readonly timeoutMs: number
  /** A longer answer is cut off and counts as unclear. */
  readonly maxAnswerBytes: number
  /** False refuses every address of `private-address.ts`, checked on the address that is connected to. */
  readonly allowPrivateAddresses: boolean
}

/**
 * The only way out to recipients. The simulator puts one in its place that loses, delays and repeats.
 *
 * A request goes out at most once: no retry, no redirect (a 3xx is an answer like any other), whatever
 * happens to the connection. What was seen of it is told as one of three kinds:
 *
 * - `notSent`: no byte of the request was written. DNS failure, refused connection, connect time-out, TLS
 *   failure, an address that is not allowed (`why` then starts with `address_refused`), a deadline, an abort or a
 *   streamed body that fails before the first byte.
 * - `unclear`: the request was begun and no complete answer came. Deadline, abort, reset, closed, torn or
 *   oversized answer, an answer that is not HTTP. Also a streamed body that fails in the middle, and a 2xx that came
 *   before all of it was sent: of a request that was never whole nothing is known to be done.
 * - `answered`: a complete answer; header names in lower case, repeated ones joined by `, `.
 */
export interface Network {
  /** Never rejects: whatever goes wrong is one of the three kinds. `why` holds no header value and no body. */
  send(request: NetworkRequest, signal: AbortSignal): Promise<Exchange>
  /** Cuts off what is in flight, which becomes `unclear`, and closes every connection. */
  close(): Promise<void>
}
