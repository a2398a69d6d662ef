import type { StandardSchemaV1 } from '@standard-schema/spec'
import {
  type Contract,
  CounterfoilError,
  checkContract,
  type Duration,
  milliseconds,
  type Ordering,
  takesOrder,
} from '../domain/index.ts'
import type { BodyStore } from './body-store.ts'
import type {
  AskContext,
  CallContext,
  CallReading,
  CallRecipient,
  CallResult,
  LookupReading,
  TombstoneReading,
} from './call-recipient.ts'
import type { EffectRequest, HeadersFunction, HttpRecipient } from './http-recipient.ts'
import { type LimitOptions, toLimits } from './limits.ts'
import { checkPath } from './request-path.ts'

interface CommonOptions<C extends Contract> {
  readonly contract: C
  /** From the call to the end of the answer, connecting and credentials included. Default `30s`. */
  readonly timeout?: Duration
  /** Attempts in flight at once from one process. Default 16. */
  readonly concurrency?: number
  /** What all processes that share the store may do here together. Default: no limit but each one's concurrency. */
  readonly limits?: LimitOptions
  /** Asks what became of an effect; needed where the contract's lookup is by `function`, or without a `url`. */
  readonly lookup?: (about: AskContext) => Promise<LookupReading>
}

/** A recipient that is reached over HTTP. */
export interface HttpOptions<C extends Contract, Stores extends string = string> extends CommonOptions<C> {
  readonly url: string
  /** Credentials and the like: asked for at each call and stored nowhere. May be async. */
  readonly headers?: HeadersFunction
  /** Private and loopback addresses are refused unless this is true. */
  readonly allowPrivateAddresses?: boolean
  /** Where bodies lie that effects send by reference (`bodyFrom`), by the name that is stored with them. */
  readonly bodies?: Readonly<Record<Stores, BodyStore>>
  readonly call?: never
}

/** A recipient that is reached by a function of the program instead of a URL. */
export interface CallOptions<C extends Contract, Request> extends CommonOptions<C> {
  /**
   * Carries an effect out, once a call: a vendor's SDK, for example. Switch the SDK's own retries off, or hand it
   * `context.fetch`.
   */
  readonly call: (request: Request, context: CallContext) => Promise<unknown>
  /** What an answer or an error proves; undefined leaves it to the contract. */
  readonly classify?: (result: CallResult) => CallReading | undefined
  /** Closes a key; needed where the contract takes tombstones. */
  readonly tombstone?: (about: AskContext) => Promise<TombstoneReading>
  /** Called once when the program stops, after the last call: ends a connection, for example. */
  readonly close?: () => Promise<void>
  readonly url?: never
}

/** What `recipient()` takes: a URL or a function, and the contract. */
export type RecipientOptions<C extends Contract, Request = EffectRequest> =
  | HttpOptions<C>
  | CallOptions<C, Request>

/** An operation at a recipient. `Ordered` is true only where the contract has a fence, or takes effects in turn. */
export interface EffectDefinition<Payload = unknown, Ordered extends boolean = boolean> {
  readonly recipient: Recipient
  /** Such as `seat.open`: shown to people, and part of the fingerprint. */
  readonly name: string
  readonly payload: StandardSchemaV1<unknown, Payload>
  readonly request: (payload: Payload) => unknown
  /** Type-level only: keeps an unordered effect from taking an `order`. */
  readonly ordered: Ordered
}

interface Defines<C extends Contract, Request> {
  readonly contract: C
  readonly lookup?: (about: AskContext) => Promise<LookupReading>
  effect<Schema extends StandardSchemaV1>(
    name: string,
    about: {
      readonly payload: Schema
      /** Called once, at planning; what it gives is stored, and the same for every attempt. */
      readonly request: (payload: StandardSchemaV1.InferOutput<Schema>) => Request
    },
  ): EffectDefinition<
    StandardSchemaV1.InferOutput<Schema>,
    C extends {
      readonly ordering: { readonly fence: NonNullable<Ordering['fence']> } | { readonly inTurn: true }
    }
      ? true
      : false
  >
}

/** How a recipient is reached: over HTTP, or by a function of this program. */
export type Reach =
  | ({ readonly kind: 'http' } & HttpRecipient)
  | ({
      readonly kind: 'call'
      readonly tombstone?: (about: AskContext) => Promise<TombstoneReading>
      readonly close?: () => Promise<void>
    } & CallRecipient)

/** The far side of effects, with its contract, as `recipient()` makes it. */
export type Recipient<C extends Contract = Contract, Request = any> = Reach & Defines<C, Request>

/**
 * The far side of an effect, with its contract.
 *
 * @param name names the recipient in the ledger for ever: effects are identified by it and their key.
 * @throws CounterfoilError `contract_invalid`, `config_invalid`
 */
export function recipient<const C extends Contract, Stores extends string = never>(
  name: string,
  options: HttpOptions<C, Stores>,
): Recipient<C, EffectRequest<Stores>>
export function recipient<const C extends Contract, Request>(
  name: string,
  options: CallOptions<C, Request>,
): Recipient<C, Request>
export function recipient(name: string, options: RecipientOptions<Contract, never>): Recipient {
  const { contract, timeout = '30s', concurrency = 16, limits, lookup } = options
  checkContract(name, contract)
  const timeoutMs = milliseconds(timeout)
  checkTimes(name, contract, timeoutMs)
  checkFunctions(name, options)
  const self: Recipient = {
    ...(options.call === undefined ? reachByHttp(name, options) : reachByCall(options)),
    name,
    contract,
    timeoutMs,
    concurrency,
    ...(limits === undefined ? {} : { limits: toLimits(name, limits) }),
    ...(lookup === undefined ? {} : { lookup }),
    effect: (effectName, about) => ({
      recipient: self,
      name: effectName,
      payload: about.payload as never,
      request: about.request as never,
      ordered: takesOrder(contract) as never,
    }),
  } as Recipient
  return self
}

/** Ends what recipients hold open, once nothing is called any more. */
export async function closeRecipients(recipients: Iterable<Recipient>): Promise<void> {
  await Promise.all([...recipients].map((one) => (one.kind === 'call' ? one.close?.() : undefined)))
}

function reachByHttp(
  name: string,
  { url: text, headers, allowPrivateAddresses = false, bodies, contract }: HttpOptions<Contract>,
) {
  const refuse = (why: string, hint: string): never => {
    throw new CounterfoilError('config_invalid', `The url of recipient '${name}' ${why}.`, { hint })
  }
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    refuse('is not an http or https URL', "Write it whole, such as 'https://api.example.com/v1'.")
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    const hint =
      'Give an authorization header in its headers function: that is asked at each call and stored nowhere.'
    refuse('holds a user name or password', hint)
  }
  for (const path of [contract.lookup?.path, contract.ordering?.tombstone?.path])
    if (path !== undefined) checkPath(path.replaceAll(/\{(key|correlation)\}/g, 'x'))
  for (const [store, body] of Object.entries(bodies ?? {})) {
    if (/^[A-Za-z0-9._-]{1,100}$/.test(store) && typeof body?.open === 'function') continue
    throw new CounterfoilError(
      'config_invalid',
      `Recipient '${name}' has a store of bodies '${store}' that is none.`,
      {
        hint: 'Give it a name of letters, digits or . _ - and a function open.',
      },
    )
  }
  return {
    kind: 'http',
    url,
    allowPrivateAddresses,
    ...(headers === undefined ? {} : { headers }),
    ...(bodies === undefined ? {} : { bodies }),
  } as const
}

function reachByCall({ call, classify, tombstone, close }: CallOptions<Contract, never>) {
  return {
    kind: 'call',
    call,
    ...(classify === undefined ? {} : { classify }),
    ...(tombstone === undefined ? {} : { tombstone }),
    ...(close === undefined ? {} : { close }),
  } as const
}

/** An attempt that may last longer than the recipient remembers its key is safe to repeat at no time. */
function checkTimes(name: string, { idempotency }: Contract, timeoutMs: number): void {
  const { remembersFor } = idempotency ?? {}
  if (remembersFor === undefined || remembersFor === 'forever' || remembersFor === 'unstated') return
  if (timeoutMs < milliseconds(remembersFor)) return
  throw new CounterfoilError(
    'config_invalid',
    `The time-out of recipient '${name}' is as long as it remembers a key, or longer.`,
    { hint: 'Give it a shorter timeout.' },
  )
}

function checkFunctions(name: string, options: RecipientOptions<Contract, never>): void {
  const { lookup, ordering } = options.contract
  const lacks = (what: string): never => {
    throw new CounterfoilError('config_invalid', `Recipient '${name}' lacks its ${what} function.`, {
      hint: `Its contract promises a ${what}, and nothing else here can ask for it.`,
    })
  }
  const byFunction = lookup !== undefined && (lookup.by === 'function' || options.call !== undefined)
  if (byFunction && options.lookup === undefined) lacks('lookup')
  if (options.call !== undefined && ordering?.tombstone !== undefined && options.tombstone === undefined)
    lacks('tombstone')
}
