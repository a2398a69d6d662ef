import type { Duration } from './duration.ts'
import type { KeyFormat } from './effect-identity.ts'

/**
 * What a recipient promises. Data, not prose (design.md section 3, Contracts): everything here survives
 * `JSON.stringify`, so a service can publish it and a sender can read it. Its JSON Schema is
 * `counterfoil/contract.schema.json`; what contradicts itself is refused by `checkContract`.
 */
export interface Contract {
  /** Absent: the recipient does not recognise a repeated request. */
  readonly idempotency?: Idempotency
  /** Absent: the recipient cannot be asked whether it acted. */
  readonly lookup?: Lookup
  /** Absent: the recipient compares no versions, and no effect may claim order there. */
  readonly ordering?: Ordering
  /** Read in order, before the default rules; the first that matches decides. */
  readonly outcomes?: readonly OutcomeRule[]
  /** Where the recipient's own id of the operation stands in an answer, as a JSON Pointer or a header name. */
  readonly correlation?: { readonly pointer: string } | { readonly header: string }
  /**
   * Request headers in which the recipient wants to be told times, as RFC 3339 in UTC to the millisecond:
   * `plannedAt`, so that one that forgets keys can refuse what it could have forgotten; `begunAt` of the attempt, so
   * that one that bounds how late a request may act can refuse a later one.
   */
  readonly times?: { readonly plannedAt?: string; readonly begunAt?: string }
  /** Where an answer says how long to wait, beside `Retry-After` and the `RateLimit` fields, which are always read. */
  readonly waits?: readonly WaitRule[]
  /** False: requests carry no `traceparent` (W3C Trace Context), as where unknown headers are refused. Default: they may. */
  readonly traceparent?: false
}

/** Where the key stands in a request: a header, a member of the JSON or form body, or a member of the query. */
export type KeyPlace =
  | { readonly header: string; readonly pointer?: never; readonly query?: never }
  /** A JSON Pointer. The member is written once, at planning, so that every attempt has the same bytes. */
  | { readonly pointer: string; readonly header?: never; readonly query?: never }
  | { readonly query: string; readonly header?: never; readonly pointer?: never }

export type Idempotency = KeyPlace & {
  /** Default: `cf_` and 43 characters of base64url. Where a recipient folds case, use the uuid form or base32. */
  readonly format?: KeyFormat
  /** Within what two requests meet under one key. Default `account`. */
  readonly scope?: 'account' | 'endpoint' | 'resource'
  /**
   * How long the recipient remembers a key, counted from the first request that carried it. `unstated` where it
   * says nothing: then no repeat is ever called safe.
   */
  readonly remembersFor: Duration | 'forever' | 'unstated'
  /** What another payload under a remembered key gets. */
  readonly otherPayload: 'refused' | 'first-answer' | 'unstated'
  /** What a repeat gets while the first request is still in work: an answer like this one, or it waits. */
  readonly inFlight?: AnswerPattern | 'waits'
  /**
   * What a repeat gets: the stored answer only when the first request succeeded, whatever the first answer
   * was, or a refusal that merely says that the key was used (`nothing`).
   */
  readonly replays: 'first-success' | 'first-answer' | 'nothing' | 'unstated'
  /** How a replayed answer is told from a first one. */
  readonly marker?: AnswerMember
}

export type Lookup = LookupQuestion & {
  /** How long after an attempt the first question makes sense. Default `1s`. */
  readonly after?: Duration
  readonly absence: {
    /**
     * True only when the recipient bounds how late a request may still act: then "not there", asked at least
     * `after` past the end of the last attempt, proves that no attempt acted or ever will.
     */
    readonly final: boolean
    readonly after?: Duration
  }
  /**
   * How long after the first attempt an act can still be found: what was forgotten is "not there" too, and that is
   * no proof. Default: as long as keys are remembered where it is asked by key, else for ever.
   */
  readonly findsFor?: Duration | 'forever'
  /** Read in order before the defaults: 2xx means acted, 404 means absent, anything else proves nothing. */
  readonly answers?: readonly LookupRule[]
}

/** How a recipient is asked, with GET. The path has `{key}` or `{correlation}` where that goes, percent-encoded. */
export type LookupQuestion =
  | { readonly by: 'key'; readonly path: string }
  /** Possible only once an answer has carried the recipient's own id. */
  | { readonly by: 'correlation'; readonly path: string }
  /** The recipient's `lookup` function asks, for what one GET cannot: a search, an SDK, a database. */
  | { readonly by: 'function'; readonly path?: never }

/** What a recipient compares or keeps so that something older cannot act, or the order in which it is called. At least one. */
export interface Ordering {
  /**
   * The recipient compares this header with the version it holds and rejects an older one with this status. `domain`
   * is the header that names the ordering domain, where the recipient cannot tell it from the request itself.
   */
  readonly fence?: { readonly header: string; readonly rejectedWith: number; readonly domain?: string }
  /**
   * A precondition that stands in the effect's own request (RFC 9110 section 13: `If-Match`, `If-None-Match`, or a
   * member of the body). Once it acted, the precondition no longer holds: so a repeat is safe for ever.
   */
  readonly conditional?: {
    readonly rejectedWith: number
  } & (
    | { readonly header: string; readonly pointer?: never }
    | { readonly pointer: string; readonly header?: never }
  )
  /** A record at the recipient that this key can never act. */
  readonly tombstone?: {
    readonly method: 'PUT' | 'POST' | 'DELETE'
    /** With `{key}` where the idempotency key goes, percent-encoded. */
    readonly path: string
    /**
     * How long after the first attempt the recipient still knows whether the key acted. What it has forgotten it
     * closes too, and that proves nothing. Default: as long as keys are remembered.
     */
    readonly findsFor?: Duration | 'forever'
    /** Read in order before the defaults: 2xx means closed, anything else proves nothing. */
    readonly answers?: readonly TombstoneRule[]
  }
  /**
   * The recipient compares nothing and keeps the order in which requests come, as a stream or a queue does. So an
   * effect waits until every earlier version of its ordering domain here is final: one after the other.
   */
  readonly inTurn?: true
}

/** A member of an answer: a header, by its name, or a member of its JSON body, by JSON Pointer. */
export type AnswerMember =
  /** Absent `equals`: the header is there. */
  | { readonly header: string; readonly equals?: string; readonly pointer?: never }
  | { readonly pointer: string; readonly equals: string | number | boolean | null; readonly header?: never }

/** What an answer looks like: a status, a class such as `4xx`, and optionally a header or a member of its JSON body. */
export interface AnswerPattern {
  readonly status: number | `${1 | 2 | 3 | 4 | 5}xx`
  readonly header?: { readonly name: string; readonly equals?: string }
  readonly body?: { readonly pointer: string; readonly equals: string | number | boolean | null }
}

export interface OutcomeRule extends AnswerPattern {
  /** `accepted`: taken on and not yet done. The effect stays unknown, and the lookup tells its end. */
  readonly means: 'confirmed' | 'refused' | 'fenced' | 'not-acted' | 'accepted' | 'unknown'
}

export interface LookupRule extends AnswerPattern {
  /** `pending`: the recipient knows of it and has not finished. */
  readonly means: 'acted' | 'refused' | 'absent' | 'pending' | 'nothing'
}

export interface TombstoneRule extends AnswerPattern {
  readonly means: 'closed' | 'acted' | 'refused' | 'nothing'
}

/** A member of an answer that says when to come again. Read on 429 and 503, or where `when` says. */
export type WaitRule = {
  readonly as: 'seconds' | 'milliseconds' | 'epoch-seconds'
  readonly when?: AnswerPattern
} & (
  | { readonly header: string; readonly pointer?: never }
  | { readonly pointer: string; readonly header?: never }
)

/** Where a recipient publishes its contract (RFC 8615). */
export const contractPath = '/.well-known/counterfoil-contract.json'

/** True when the recipient rejects an older version, or gets them in turn: only then may an effect claim order. */
export function takesOrder(contract: Contract): boolean {
  return contract.ordering?.fence !== undefined || takesInTurn(contract)
}

/** True when effects of one ordering domain wait for each other. */
export function takesInTurn(contract: Contract): boolean {
  return contract.ordering?.inTurn === true
}
