import type { Duration } from './duration.ts'
import { milliseconds } from './duration.ts'
import type { KeyFormat } from './effect-identity.ts'
import { CounterfoilError } from './errors.ts'
import { isPointer } from './json-pointer.ts'

/**
 * What a recipient promises. Data, not prose (design.md section 3, Contracts): everything here survives
 * `JSON.stringify`, so a service can publish it and a sender can read it.
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
}

export interface Idempotency {
  /** The request header that carries the key. */
  readonly header: string
  /** Default: `cf_` and 43 characters of base64url. Where a recipient folds case, use the uuid form. */
  readonly format?: KeyFormat
  /** How long the recipient remembers a key, counted from the first request that carried it. */
  readonly remembersFor: Duration
  /** What another payload under a remembered key gets. */
  readonly otherPayload: 'refused' | 'first-answer' | 'unstated'
  /**
   * What a repeat gets: the stored answer only when the first request succeeded, whatever the first answer
   * was, or a refusal that merely says that the key was used (`nothing`).
   */
  readonly replays: 'first-success' | 'first-answer' | 'nothing'
}

export interface Lookup {
  readonly by: 'key'
  /** Path with `{key}` where the idempotency key goes, percent-encoded. Asked with GET. */
  readonly path: string
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
  /** Read in order before the defaults: 2xx means acted, 404 means absent, anything else proves nothing. */
  readonly answers?: readonly LookupRule[]
}

export interface Ordering {
  /** The recipient compares this header with the version it holds and rejects an older one with this status. */
  readonly fence: { readonly header: string; readonly rejectedWith: number }
}

/** What an answer looks like: a status, a class such as `4xx`, and optionally a member of its JSON body. */
export interface AnswerPattern {
  readonly status: number | `${1 | 2 | 3 | 4 | 5}xx`
  readonly body?: { readonly pointer: string; readonly equals: string | number | boolean | null }
}

export interface OutcomeRule extends AnswerPattern {
  readonly means: 'confirmed' | 'refused' | 'fenced' | 'not-acted' | 'unknown'
}

export interface LookupRule extends AnswerPattern {
  readonly means: 'acted' | 'refused' | 'absent' | 'nothing'
}

/** Refuses a contract that contradicts itself. @throws CounterfoilError `contract_invalid`. */
export function checkContract(recipient: string, contract: Contract): void {
  const refuse = (why: string, hint: string): never => {
    throw new CounterfoilError('contract_invalid', `The contract of recipient '${recipient}' ${why}.`, {
      hint,
    })
  }
  const { idempotency, lookup, ordering, correlation } = contract
  // A rule that can never match would leave an error in a 200 confirmed.
  for (const { status, body } of [...(contract.outcomes ?? []), ...(lookup?.answers ?? [])]) {
    if (!/^[1-5](\d\d|xx)$/.test(String(status)))
      refuse(`has a rule for the status ${status}`, 'Use 100 to 599, or a class such as 4xx.')
    if (body !== undefined && !isPointer(body.pointer))
      refuse(`points at '${body.pointer}'`, "Write a JSON Pointer such as '/error/code'.")
  }
  if (correlation !== undefined && 'pointer' in correlation && !isPointer(correlation.pointer)) {
    refuse(`points at '${correlation.pointer}'`, "Write a JSON Pointer such as '/id'.")
  }
  if (correlation !== undefined && 'header' in correlation && !isHeaderName(correlation.header)) {
    refuse('names no valid correlation header', 'Use a header name such as Operation-Id.')
  }
  if (idempotency !== undefined) {
    if (!isHeaderName(idempotency.header))
      refuse('names no valid key header', 'Use a header name such as Idempotency-Key.')
    if (milliseconds(idempotency.remembersFor) <= 0)
      refuse('remembers keys for no time at all', 'Leave idempotency out.')
  }
  if (lookup !== undefined) {
    if (idempotency === undefined) {
      refuse('offers a lookup by key but takes no key', 'Say in idempotency which header carries the key.')
    }
    if (!lookup.path.includes('{key}'))
      refuse('has a lookup path without {key}', "Write it as '/operations/{key}'.")
    if (lookup.absence.final && lookup.absence.after === undefined) {
      refuse(
        'calls absence final without saying when',
        'Add absence.after, the bound on how late a request may act.',
      )
    }
  }
  if (ordering !== undefined) {
    const { header, rejectedWith } = ordering.fence
    if (!isHeaderName(header))
      refuse('names no valid fence header', 'Use a header name such as Fence-Version.')
    if (header.toLowerCase() === idempotency?.header.toLowerCase())
      refuse('puts key and version into one header', 'Name two headers.')
    if (!(rejectedWith >= 400 && rejectedWith <= 499))
      refuse('rejects old versions with no 4xx status', 'Use 412.')
    // The first rule for the status decides; a class such as 4xx would hide the fence as well.
    const other = contract.outcomes?.find(
      (rule) => covers(rule.status, rejectedWith) && rule.body === undefined,
    )
    if (other !== undefined && other.means !== 'fenced')
      refuse(`reads ${rejectedWith} both as fenced and as ${other.means}`, 'Drop one of the two.')
  }
}

/** True when a rule's status stands for this one. */
function covers(pattern: AnswerPattern['status'], status: number): boolean {
  return typeof pattern === 'number' ? pattern === status : pattern[0] === String(status)[0]
}

function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)
}
