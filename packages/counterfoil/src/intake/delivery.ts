import type { Arrival } from './arrival.ts'

/** One arrival as it came off the wire: nothing parsed. */
export interface Delivery {
  /** In capitals. Anything but `POST` only where the kind lists it in `methods`. */
  readonly method: string
  /**
   * The whole URL as the sender addressed it, for producers that sign it. Behind a proxy this is the producer's
   * configured `publicUrl` with the query that came; without one it is put together from the `Host` header,
   * which the sender chooses.
   */
  readonly url: string
  /** By lower-case name; null when absent. Repeated headers are joined with `, ` (RFC 9110 section 5.3). */
  header(name: string): string | null
  /** All of them, by lower-case name. */
  headers(): Iterable<readonly [name: string, value: string]>
  /** A parameter of the query, decoded (WHATWG URL); the first of several; null when absent. */
  query(name: string): string | null
  /** The content that the signature covers, after any content coding was undone. Empty for a request without one. */
  readonly body: Uint8Array
}

/** A class and not a literal: what few kinds ask for costs the others nothing. */
export class ArrivedDelivery implements Delivery {
  readonly body: Uint8Array
  readonly #arrival: Arrival
  readonly #publicUrl: string | undefined
  #query: URLSearchParams | undefined

  constructor(arrival: Arrival, publicUrl: string | undefined, body: Uint8Array) {
    this.#arrival = arrival
    this.#publicUrl = publicUrl
    this.body = body
  }

  get method(): string {
    return this.#arrival.method
  }

  get url(): string {
    const { url } = this.#arrival
    if (this.#publicUrl !== undefined) return this.#publicUrl + searchOf(url)
    return url.startsWith('/') ? `${this.#arrival.scheme}://${this.header('host') ?? ''}${url}` : url
  }

  header(name: string): string | null {
    return this.#arrival.header(name)
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return this.#arrival.headers()
  }

  query(name: string): string | null {
    this.#query ??= new URLSearchParams(searchOf(this.#arrival.url))
    return this.#query.get(name)
  }
}

/** From the `?` on, without a fragment; empty when there is none. */
function searchOf(url: string): string {
  const end = url.indexOf('#')
  const whole = end === -1 ? url : url.slice(0, end)
  const begin = whole.indexOf('?')
  return begin === -1 ? '' : whole.slice(begin)
}
