import { type Clock, CounterfoilError, type Duration, type Log, milliseconds } from '../domain/index.ts'
import type { ActRules } from './act.ts'
import type { CallRules, HeaderNames } from './call.ts'
import type { GuardStore, Mode } from './store.ts'

/** What `caller` sees of a request: enough to say who sent it, after your own authentication. */
export interface CallerRequest {
  readonly method: string
  /** A whole URL, or its path. */
  readonly url: string
  /** By lower-case name; null when absent. */
  header(name: string): string | null
}

/** What `guard()` takes: its store, who calls, and how long keys are remembered. */
export interface GuardOptions<Tx, M extends Mode> {
  /** The owner's own database: `sqliteGuardStore` or `postgresGuardStore`. */
  readonly store: GuardStore<Tx, M>
  /**
   * Who sent the request: an account, a tenant, a service. Keys, domains, lookups and tombstones of two callers
   * never meet. Null refuses with 401. Only a digest is stored.
   */
  readonly caller: (request: CallerRequest) => string | null | Promise<string | null>
  /** How long an answer is replayed, from its commit on. */
  readonly remembersFor: Duration
  /**
   * Default false: after `remembersFor` the answer goes and a marker stays for ever, so that a repeat is refused.
   * True: the row goes altogether; each request must then say when its effect was planned, and one planned longer
   * ago than `remembersFor` is refused, since its key could have been forgotten.
   */
  readonly forgetKeys?: boolean
  /**
   * How long after its attempt was begun a request may still act. With it each request must say when that was, and
   * a lookup's "absent" becomes final. Absent: a request may arrive at any time, and absence is a hint.
   */
  readonly acceptsFor?: Duration
  /** How far a sender's clock and this service's may differ. Default `5s`. */
  readonly clockSkew?: Duration
  /** Default `required`. `optional`: a request without a key acts each time. */
  readonly key?: 'required' | 'optional'
  /** Default `optional`: a version is compared where a request brings one. */
  readonly fence?: 'required' | 'optional'
  /** Default false: a 5xx undoes what the handler wrote and nothing is kept, so that the next attempt acts. */
  readonly storeServerErrors?: boolean
  /** Largest request body in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number
  /** How long a body may take to arrive. Default `30s`. */
  readonly bodyTimeout?: Duration
  /** Largest answer in bytes. Default 1 MiB. */
  readonly maxAnswerBytes?: number
  /** Names of headers. */
  readonly headers?: Partial<HeaderNames>
  /** Where lookups and tombstones are served. Default `/counterfoil`. */
  readonly path?: string
  readonly clock?: Clock
  /** Told of faults of the database. Default: a line on standard error. */
  readonly log?: Log
}

/** Lower case, as `Arrival` wants them. */
export const defaultHeaders: HeaderNames = {
  key: 'idempotency-key',
  plannedAt: 'effect-planned-at',
  begunAt: 'attempt-begun-at',
  fenceDomain: 'fence-domain',
  fenceVersion: 'fence-version',
  replayed: 'idempotency-replayed',
}

export interface Settings extends ActRules, CallRules {
  readonly path: string
}

const mebibyte = 1_048_576

/** @throws CounterfoilError `config_invalid` */
export function settingsOf(options: Omit<GuardOptions<never, Mode>, 'store' | 'caller'>): Settings {
  const headers = { ...defaultHeaders, ...options.headers }
  const names = Object.values(headers)
  for (const name of names) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/i.test(name)) refuse(`'${name}' is not the name of a header`)
  }
  const lower = Object.fromEntries(
    Object.entries(headers).map(([what, name]) => [what, name.toLowerCase()]),
  ) as unknown as HeaderNames
  if (new Set(Object.values(lower)).size < names.length) refuse('two of its headers have one name')
  const remembersForMs = milliseconds(options.remembersFor)
  const clockSkewMs = milliseconds(options.clockSkew ?? '5s')
  const acceptsForMs = options.acceptsFor === undefined ? null : milliseconds(options.acceptsFor)
  if (remembersForMs <= 2 * clockSkewMs) refuse('it remembers keys for no longer than clocks may differ')
  if (acceptsForMs !== null && acceptsForMs <= clockSkewMs)
    refuse('it accepts attempts for no longer than clocks may differ')
  const path = options.path ?? '/counterfoil'
  if (!/^(\/[A-Za-z0-9._~-]+)+$/.test(path)) refuse(`its path '${path}' is not like /counterfoil`)
  return {
    headers: lower,
    fenceVersionHeader: lower.fenceVersion,
    remembersForMs,
    forgetKeys: options.forgetKeys ?? false,
    acceptsForMs,
    clockSkewMs,
    keyRequired: (options.key ?? 'required') === 'required',
    fenceRequired: options.fence === 'required',
    needsPlannedAt: options.forgetKeys ?? false,
    needsBegunAt: acceptsForMs !== null,
    storeServerErrors: options.storeServerErrors ?? false,
    maxBodyBytes: limit('maxBodyBytes', options.maxBodyBytes),
    maxAnswerBytes: limit('maxAnswerBytes', options.maxAnswerBytes),
    bodyTimeoutMs: milliseconds(options.bodyTimeout ?? '30s'),
    path,
  }
}

function limit(name: string, value = mebibyte): number {
  if (!Number.isSafeInteger(value) || value < 0) refuse(`${name} is ${value}, not a number of bytes`)
  return value
}

function refuse(why: string): never {
  throw new CounterfoilError('config_invalid', `The guard cannot be made: ${why}.`)
}
