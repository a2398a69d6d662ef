import { CounterfoilError, type Duration } from '../../domain/index.ts'
import { type EndpointHealth, healthy, isChange } from './health.ts'
import { type Signer, signersOf } from './signing-keys.ts'
import type { WebhookBody } from './webhook.ts'

/** Where a customer wants to be told. */
export interface Endpoint {
  /** Names it in the ledger for ever: letters, digits and `. _ -`. */
  readonly id: string
  readonly tenant: string
  /** As the customer gave it. Private and loopback addresses are refused when it is connected to. */
  readonly url: string
  /** The newest first; the one before beside it until every receiver has the new one. */
  readonly secrets: readonly string[]
  /** What it wants to hear of: `invoice.paid`, or `invoice.*`. Default: everything. */
  readonly types?: readonly string[]
  /** What `saveHealth` was last told. */
  readonly health?: EndpointHealth
}

export interface WebhooksOptions {
  /** All of them, or the program's own function that reads them from its table. Secrets stay in memory. */
  readonly endpoints: readonly Endpoint[] | (() => Promise<readonly Endpoint[]>)
  /** How old what the function gave may be. Default `30s`. */
  readonly freshFor?: Duration
  /** Told whenever an endpoint begins to fail, does well again, or is switched off or on: for the program's table. */
  readonly saveHealth?: (id: string, health: EndpointHealth) => Promise<void>
  /** Nothing but failures for so long switch an endpoint off. Default `5d`. */
  readonly offAfter?: Duration
  /** How long receivers are told to remember a `webhook-id`. Default `7d`. */
  readonly deduplicatesFor?: Duration
  /** Default `20s`: Standard Webhooks asks for 15 to 30. */
  readonly timeout?: Duration
  /** Attempts in flight at once at one endpoint, from one process: others are not held up by it. Default 4. */
  readonly concurrency?: number
  /** Waits after each attempt that did not succeed. Default: the schedule of Standard Webhooks. */
  readonly schedule?: readonly Duration[]
  readonly body?: WebhookBody
  /** For receivers on the own network, in development. Default false. */
  readonly allowPrivateAddresses?: boolean
}

/** An endpoint as it is used, and how it does. */
export interface KnownEndpoint {
  readonly endpoint: Endpoint
  readonly url: URL
  readonly signers: readonly Signer[]
  readonly health: EndpointHealth
}

export const endpointId = /^[A-Za-z0-9._-]{1,100}$/

/** @throws CounterfoilError `config_invalid`, without a word of the secrets */
export function knownEndpoint(endpoint: Endpoint, before: KnownEndpoint | undefined): KnownEndpoint {
  const { id, url: text, secrets } = endpoint
  const refuse = (why: string): never => {
    throw new CounterfoilError('config_invalid', `A webhook endpoint ${why}.`)
  }
  if (!endpointId.test(id)) refuse(`has an id that is none: '${String(id).slice(0, 100)}'`)
  const url = URL.canParse(text) ? new URL(text) : refuse('has a url that is none')
  if (!/^https?:$/.test(url.protocol)) refuse('has a url that is neither https nor http')
  if (url.username !== '' || url.password !== '') refuse('has a url with a user name or password')
  const { health: stored = before?.health ?? healthy } = endpoint
  // Between changes only what is here counts failures on.
  const health = before !== undefined && !isChange(before.health, stored) ? before.health : stored
  return { endpoint, url, signers: signersOf(secrets), health }
}

export function wants({ types }: Endpoint, type: string): boolean {
  return (
    types === undefined ||
    types.some((one) => one === type || (one.endsWith('.*') && type.startsWith(one.slice(0, -1))))
  )
}
