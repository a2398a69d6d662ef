import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { CounterfoilError, type Exchange } from '../domain/index.ts'
import { ConnectFailure, codeOf, resetCode } from './connector.ts'
import type { StreamedBody } from './network.ts'

/**
 * Follows one request through undici and says what was seen of it, once.
 *
 * The line between `notSent` and `unclear` is a fact and not read from error codes: undici calls
 * `onRequestStart` on a connection that is made, immediately before it writes the first byte, in the same
 * turn (client-h1.js, `writeH1`). Not called: nothing was written. Called: something may have been. With a streamed
 * body undici writes the head together with the first chunk (`AsyncWriter`), so there the first chunk is the line.
 */
export class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #maxAnswerBytes: number
  readonly #settle: (exchange: Exchange) => void
  #started = false
  #begun = false
  /** All of the request was given to be written. */
  #whole = true
  #streams = false
  #over = false
  #controller: Dispatcher.DispatchController | undefined
  #answer: { readonly status: number; readonly headers: Record<string, string> } | undefined
  #chunks: Uint8Array[] = []
  #received = 0

  constructor(maxAnswerBytes: number, settle: (exchange: Exchange) => void) {
    this.#maxAnswerBytes = maxAnswerBytes
    this.#settle = settle
  }

  /** Ends the exchange now, for a deadline or an abort. Does nothing when it is over. */
  giveUp(why: string): void {
    if (this.#over) return
    this.#end(this.#failed(why))
    this.#controller?.abort(new Error(why))
  }

  /** A streamed body on its way through undici, which reads it once the connection is made. */
  sending(body: StreamedBody): AsyncIterable<Uint8Array> {
    this.#streams = true
    this.#whole = false
    return this.#pass(body)
  }

  async *#pass({ length, chunks }: StreamedBody): AsyncGenerator<Uint8Array, void> {
    let sent = 0
    for await (const chunk of chunks) {
      // Given up meanwhile. To end here would have undici write a head for an empty body.
      if (this.#over) throw new Error('this request must not go on')
      sent += chunk.byteLength
      this.#begun = true
      this.#whole = sent === length
      yield chunk
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throwing here makes undici drop the request before it writes and keep the connection. It was given up
    // while it waited for one; or it would go out a second time, which pipelining 1 and HTTP/1.1 exclude.
    if (this.#over || this.#started) throw new Error('this request must not go out any more')
    this.#started = true
    this.#begun = !this.#streams
    this.#controller = controller
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return
    this.#answer = { status, headers: flatten(headers) }
    if (Number(headers['content-length']) > this.#maxAnswerBytes) this.giveUp(this.#tooLarge())
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return
    this.#received += chunk.byteLength
    if (this.#received > this.#maxAnswerBytes) this.giveUp(this.#tooLarge())
    else this.#chunks.push(new Uint8Array(chunk))
  }

  onResponseEnd(): void {
    if (this.#answer === undefined) return
    const { status } = this.#answer
    if (!this.#whole && status >= 200 && status < 300) {
      this.#end({ kind: 'unclear', why: `answered ${status} before it had the whole request` })
      return
    }
    const [first, second] = this.#chunks
    const body =
      second === undefined ? (first ?? new Uint8Array()) : new Uint8Array(Buffer.concat(this.#chunks))
    this.#end({ kind: 'answered', ...this.#answer, body })
  }

  onResponseError(_: Dispatcher.DispatchController | null | undefined, error: Error): void {
    this.#end(this.#failed(this.#describe(error)))
  }

  #failed(why: string): Exchange {
    return { kind: this.#begun ? 'unclear' : 'notSent', why }
  }

  #end(exchange: Exchange): void {
    if (this.#over) return
    this.#over = true
    this.#chunks = []
    this.#settle(exchange)
  }

  #tooLarge(): string {
    return `the answer is larger than ${this.#maxAnswerBytes} bytes`
  }

  #describe(error: Error): string {
    if (error instanceof ConnectFailure) return error.message
    if (error instanceof CounterfoilError) return `${error.code}: ${error.message}`
    const code = codeOf(error)
    const when = this.#answer === undefined ? 'before an answer came' : 'in the middle of the answer'
    if (code === resetCode || code === 'ECONNRESET' || code === 'EPIPE')
      return `the connection was reset ${when}`
    if (code === 'UND_ERR_SOCKET') return `the connection was closed ${when}`
    if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'the answer is not as long as it says'
    if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'the header section of the answer is too large'
    if (error.name === 'HTTPParserError') return 'the answer is not valid HTTP/1.1'
    if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED')
      return 'this process closed its connections'
    if (code === 'UND_ERR_INVALID_ARG') return 'the request cannot be written as HTTP/1.1'
    return `the connection failed ${when} (${code})`
  }
}

/** undici gives lower-case names and lists for repeated ones (RFC 9110 section 5.3 joins them by a comma). */
function flatten(headers: IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}
