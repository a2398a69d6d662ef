import type { StandardSchemaV1 } from '@standard-schema/spec'
import {
  type Contract,
  CounterfoilError,
  checkContract,
  type Duration,
  milliseconds,
  type Ordering,
} from '../domain/index.ts'
import type { EffectRequest, HttpRecipient } from './http-recipient.ts'
import { checkPath } from './request-path.ts'

export interface RecipientOptions<C extends Contract> {
  readonly url: string
  readonly contract: C
  /** From the call to the last byte of the answer, connecting included. Default `30s`. */
  readonly timeout?: Duration
  /** Credentials and the like: asked for at each call and stored nowhere. */
  readonly headers?: () => Record<string, string>
  /** Private and loopback addresses are refused unless this is true. */
  readonly allowPrivateAddresses?: boolean
  /** Attempts in flight at once from one process. Default 16. */
  readonly concurrency?: number
}

/** An operation at a recipient. `Ordered` is true only where the contract has ordering control. */
export interface EffectDefinition<Payload = unknown, Ordered extends boolean = boolean> {
  readonly recipient: Recipient
  /** Such as `seat.open`: shown to people, and part of the fingerprint. */
  readonly name: string
  readonly payload: StandardSchemaV1<unknown, Payload>
  readonly request: (payload: Payload) => EffectRequest
  /** Type-level only: keeps an unordered effect from taking an `order`. */
  readonly ordered: Ordered
}

export interface Recipient<C extends Contract = Contract> extends HttpRecipient {
  readonly contract: C
  effect<Schema extends StandardSchemaV1>(
    name: string,
    about: {
      readonly payload: Schema
      /** Called once, at planning; the bytes it gives are the same for every attempt. */
      readonly request: (payload: StandardSchemaV1.InferOutput<Schema>) => EffectRequest
    },
  ): EffectDefinition<
    StandardSchemaV1.InferOutput<Schema>,
    C extends { readonly ordering: Ordering } ? true : false
  >
}

/**
 * The far side of an effect, with its contract.
 *
 * @param name names the recipient in the ledger for ever: effects are identified by it and their key.
 * @throws CounterfoilError `contract_invalid`, `config_invalid`
 */
export function recipient<const C extends Contract>(
  name: string,
  options: RecipientOptions<C>,
): Recipient<C> {
  checkContract(name, options.contract)
  if (!URL.canParse(options.url) || !/^https?:$/.test(new URL(options.url).protocol)) {
    throw new CounterfoilError(
      'config_invalid',
      `The url of recipient '${name}' is not an http or https URL.`,
      {
        hint: "Write it whole, such as 'https://api.example.com/v1'.",
      },
    )
  }
  const url = new URL(options.url)
  if (url.username !== '' || url.password !== '') {
    throw new CounterfoilError(
      'config_invalid',
      `The url of recipient '${name}' holds a user name or password.`,
      {
        hint: 'Give an authorization header in its headers function: that is asked at each call and stored nowhere.',
      },
    )
  }
  const lookupPath = options.contract.lookup?.path
  if (lookupPath !== undefined) checkPath(lookupPath.replaceAll('{key}', 'key'))
  const self: Recipient<C> = {
    name,
    url,
    contract: options.contract,
    timeoutMs: milliseconds(options.timeout ?? '30s'),
    allowPrivateAddresses: options.allowPrivateAddresses ?? false,
    concurrency: options.concurrency ?? 16,
    ...(options.headers === undefined ? {} : { headers: options.headers }),
    effect(effectName, about) {
      return {
        recipient: self as unknown as Recipient,
        name: effectName,
        payload: about.payload as never,
        request: about.request as never,
        ordered: (self.contract.ordering !== undefined) as never,
      }
    },
  }
  return self
}
