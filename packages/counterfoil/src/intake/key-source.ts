import { type Clock, CounterfoilError, codeOf, type Instant } from '../domain/index.ts'
import type { Network } from '../recipients/index.ts'

/** One question to a key server. */
export interface KeyRequest {
  readonly url: string
  /** Default `GET`. */
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Where verifiers get keys that are not configured: certificates, JWKS, PEM. One for each producer. */
export interface KeySource {
  /**
   * What lies there, as `read` understands it: from memory for an hour. Those who ask at once share one request.
   *
   * @param read turns the answer's body into keys once; where it throws, the answer counts as no key
   * @param about.again what is kept lacks the key that a delivery names, so its server is asked again, but not
   *   twice within a minute: the name is the sender's choice
   * @returns null when the server says that there is none (400, 404, 410), or nothing that `read` understands
   * @throws CounterfoilError `key_address_refused` when the address is not https, has credentials or a port of
   *   its own, or its host is not among the kind's `keyHosts`; `keys_unavailable` when the server did not
   *   answer, which is our fault and not the sender's
   */
  get<Keys>(
    request: KeyRequest,
    read: (body: Uint8Array) => Keys,
    about?: { readonly again?: boolean },
  ): Promise<Keys | null>
}

/** How long keys are used without asking again, in milliseconds. */
export const keysKeptMs = 3_600_000
/** How long "there is none" holds, and the least time between two questions for one address, in milliseconds. */
export const keysAskedAgainMs = 60_000
/** Questions whose keys are remembered, and as many whose answer was none; the one unused for longest goes first. */
export const maxKeptKeys = 100
/** Questions a minute; deliveries that would need another one are told to come again: what is asked for may be the sender's choice. */
export const maxQuestions = 60
/** Of one question, in milliseconds: senders wait only some seconds for our answer. */
const timeoutMs = 3_000
const maxAnswerBytes = 262_144

interface Kept {
  readonly keys: unknown
  readonly fetchedAt: Instant
}

/**
 * Fetches through the network port, so never from a private address, without redirects, bounded in time and size.
 *
 * @param hosts of `ProducerKind.keyHosts`
 */
export function keySource(hosts: readonly string[], network: Pick<Network, 'send'>, clock: Clock): KeySource {
  // Apart, so that made-up names cannot push out good keys.
  const kept = new Map<string, Kept>()
  const none = new Map<string, Kept>()
  const asking = new Map<string, Promise<unknown>>()
  let minute = 0
  let asked = 0

  function mayAsk(): boolean {
    const now = Math.floor(clock.now() / 60_000)
    if (now !== minute) asked = 0
    minute = now
    return asked++ < maxQuestions
  }

  /** @returns what is known and young enough */
  function known(name: string, again: boolean): Kept | undefined {
    const found = kept.get(name) ?? none.get(name)
    if (found === undefined) return undefined
    const age = clock.now() - found.fetchedAt
    const limit = found.keys === null || again ? keysAskedAgainMs : keysKeptMs
    if (age < 0 || age >= limit) return undefined
    if (found.keys !== null) remember(kept, name, found)
    return found
  }

  async function fetchKeys(url: URL, request: KeyRequest): Promise<Uint8Array | null> {
    const exchange = await network.send(
      {
        url,
        method: request.method ?? 'GET',
        headers: { accept: '*/*', ...request.headers },
        body: request.body === undefined ? null : Buffer.from(request.body),
        timeoutMs,
        maxAnswerBytes,
        allowPrivateAddresses: false,
      },
      new AbortController().signal,
    )
    if (exchange.kind !== 'answered') throw unavailable(url, exchange.why)
    if (exchange.status === 200) return exchange.body
    if (noSuchKey.has(exchange.status)) return null
    throw unavailable(url, `it answered ${exchange.status}`)
  }

  return {
    async get<Keys>(
      request: KeyRequest,
      read: (body: Uint8Array) => Keys,
      about: { readonly again?: boolean } = {},
    ): Promise<Keys | null> {
      const url = allowedUrl(request.url, hosts)
      const name = `${request.method ?? 'GET'} ${url.href} ${request.body ?? ''}`
      const found = known(name, about.again === true)
      if (found !== undefined) return found.keys as Keys | null
      const running = asking.get(name)
      if (running !== undefined) return (await running) as Keys | null
      if (!mayAsk()) throw unavailable(url, 'too many questions were asked in this minute')
      const question = fetchKeys(url, request).then((body) => {
        const keys = body === null ? null : understood(body, read)
        none.delete(name)
        remember(keys === null ? none : kept, name, { keys, fetchedAt: clock.now() })
        return keys
      })
      asking.set(name, question)
      try {
        return await question
      } finally {
        asking.delete(name)
      }
    },
  }
}

/** What a key server says of a key that a sender made up. */
const noSuchKey: ReadonlySet<number> = new Set([400, 404, 410])

function understood<Keys>(body: Uint8Array, read: (body: Uint8Array) => Keys): Keys | null {
  try {
    return read(body)
  } catch (error) {
    if (codeOf(error) !== undefined) throw error
    return null
  }
}

function remember(map: Map<string, Kept>, name: string, what: Kept): void {
  map.delete(name)
  map.set(name, what)
  if (map.size > maxKeptKeys) map.delete(map.keys().next().value!)
}

function allowedUrl(text: string, hosts: readonly string[]): URL {
  const url = URL.parse(text)
  const fits =
    url !== null &&
    url.protocol === 'https:' &&
    url.port === '' &&
    url.username === '' &&
    url.password === '' &&
    hosts.some((host) => isHost(url.hostname, host))
  if (fits) return url
  throw new CounterfoilError(
    'key_address_refused',
    'A delivery names keys at an address that is not allowed.',
    {
      hint: 'It comes from somebody else, or the producer has moved its keys.',
    },
  )
}

function isHost(name: string, allowed: string): boolean {
  const labels = name.split('.')
  const wanted = allowed.split('.')
  return (
    labels.length === wanted.length &&
    wanted.every((label, at) => (label === '*' ? labels[at] !== '' : label === labels[at]))
  )
}

function unavailable(url: URL, why: string): CounterfoilError {
  return new CounterfoilError('keys_unavailable', `The key server ${url.host} gave no keys: ${why}.`, {
    hint: 'The sender was told to send again. Can this machine reach that host?',
  })
}
