import {
  type Clock,
  classify,
  classifyLookup,
  classifyTombstone,
  type EffectKey,
  type IdempotencyKey,
  type Instant,
  type LookupFinding,
  type TombstoneFinding,
} from '../domain/index.ts'
import { type AskContext, type Called, call, decodeCall, encodeCall } from './call-recipient.ts'
import { late, within } from './deadline.ts'
import { nameOf } from './error-name.ts'
import {
  decodeRequest,
  type EffectRequest,
  encodeRequest,
  type Order,
  attempt as sendAttempt,
  lookup as sendLookup,
  tombstone as sendTombstone,
} from './http-recipient.ts'
import type { Network } from './network.ts'
import type { Recipient } from './recipient.ts'

export interface ReachPorts {
  readonly network: Pick<Network, 'send'>
  readonly clock: Clock
}

/** The effect that is carried out or asked about. */
export interface EffectAddress {
  readonly idempotencyKey: IdempotencyKey
  readonly key: EffectKey
  readonly order: Order | null
  readonly plannedAt: Instant
  /** When its latest attempt was begun; when it was planned, before the first. */
  readonly begunAt: Instant
  /** The recipient's own id of the operation, where an answer carried one. */
  readonly correlation: string | null
}

/** What is stored of an effect's request: made once, at planning. */
export function encode(recipient: Recipient, request: unknown, key: IdempotencyKey): Uint8Array {
  return recipient.kind === 'http'
    ? encodeRequest(request as EffectRequest<string>, recipient, key)
    : encodeCall(request)
}

/** Reads what `encode` made, and gives the one attempt that may be made with it. Throws when it cannot be read. */
export function prepare(
  ports: ReachPorts,
  recipient: Recipient,
  stored: Uint8Array,
): (effect: EffectAddress, attempt: number, stop: AbortSignal) => Promise<Called> {
  if (recipient.kind === 'call') {
    const request = decodeCall(stored)
    return async ({ idempotencyKey, key: effectKey, order }, attempt, stop) =>
      await call(ports.clock, recipient, request, { idempotencyKey, effectKey, order, attempt }, stop)
  }
  const request = decodeRequest(stored)
  return async (effect, number, stop) => {
    const { idempotencyKey, order } = effect
    const exchange = await sendAttempt(ports, recipient, request, idempotencyKey, order, stop, effect)
    const outcome = classify(recipient.contract, exchange, ports.clock.now())
    return { outcome: recipient.heard?.(outcome, number) ?? outcome }
  }
}

/** Asks what became of an effect. Never rejects: whatever goes wrong proves nothing. */
export async function ask(
  ports: ReachPorts,
  recipient: Recipient,
  effect: EffectAddress,
  stop: AbortSignal,
): Promise<LookupFinding> {
  if (recipient.kind === 'http' && recipient.contract.lookup?.by !== 'function') {
    const about = { key: effect.idempotencyKey, correlation: effect.correlation }
    return classifyLookup(recipient.contract, await sendLookup(ports, recipient, about, stop))
  }
  return await asked(ports.clock, recipient, 'lookup', recipient.lookup, effect, stop)
}

/** Asks the recipient to close an effect's key for ever. Never rejects. */
export async function close(
  ports: ReachPorts,
  recipient: Recipient,
  effect: EffectAddress,
  stop: AbortSignal,
): Promise<TombstoneFinding> {
  if (recipient.kind === 'http') {
    return classifyTombstone(
      recipient.contract,
      await sendTombstone(ports, recipient, effect.idempotencyKey, stop),
    )
  }
  return await asked(ports.clock, recipient, 'tombstone', recipient.tombstone, effect, stop)
}

/** Where a recipient is, for people. */
export function placeOf(recipient: Recipient): string {
  return recipient.kind === 'http'
    ? recipient.url.origin + recipient.url.pathname
    : 'a function of this program'
}

async function asked<Kind extends string>(
  clock: Clock,
  { timeoutMs }: Recipient,
  what: string,
  question:
    | ((about: AskContext) => Promise<Kind | { readonly kind: Kind; readonly why: string }>)
    | undefined,
  { idempotencyKey, key: effectKey, correlation }: EffectAddress,
  stop: AbortSignal,
): Promise<{ readonly kind: Kind | 'nothing'; readonly why: string }> {
  if (question === undefined) return { kind: 'nothing', why: `there is no ${what} function` }
  const deadline = clock.now() + timeoutMs
  try {
    const reading = await within(
      clock,
      timeoutMs,
      stop,
      async (signal) => await question({ idempotencyKey, effectKey, correlation, signal, deadline }),
    )
    return typeof reading === 'string'
      ? { kind: reading, why: `the ${what} function says ${reading}` }
      : reading
  } catch (error) {
    const why = error === late ? 'gave no answer in time' : `threw ${nameOf(error)}`
    return { kind: 'nothing', why: `the ${what} function ${why}` }
  }
}
