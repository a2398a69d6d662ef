import {
  type Clock,
  CounterfoilError,
  type EffectId,
  effectKey,
  type Fingerprint,
  fingerprintJson,
  fitSchema,
  idempotencyKey,
  type JsonValue,
  type Random,
  takesInTurn,
  takesOrder,
  timeOrderedId,
} from '../domain/index.ts'
import { type EffectDefinition, type EffectRequest, encode, type Recipient } from '../recipients/index.ts'
import type { NewEffect, Order, Vault } from '../store/index.ts'
import { describe } from './failure-text.ts'
import type { OrderedPlan } from './trigger.ts'

/** What a trigger declared, before it is checked. */
export interface Declared {
  readonly trigger: string
  readonly definition: EffectDefinition<any, any>
  readonly plan: OrderedPlan<unknown>
}

export interface PlannedEffectPorts {
  readonly vault: Vault
  readonly clock: Clock
  readonly random: Random
}

/**
 * Identity and first record of an effect: its key, its stable idempotency key, and the bytes of its request,
 * sealed and fixed for every attempt.
 *
 * @throws CounterfoilError `effect_unknown`, `order_without_fence`, `effect_key_invalid`, `effect_payload_invalid`
 */
export async function toEffect(
  ports: PlannedEffectPorts,
  recipients: ReadonlyMap<string, Recipient>,
  { trigger, definition, plan }: Declared,
  at: number,
): Promise<NewEffect> {
  const { recipient, name } = definition
  if (recipients.get(recipient.name) !== recipient) {
    throw new CounterfoilError(
      'effect_unknown',
      `Effect '${name}' goes to recipient '${recipient.name}', which is not in the configuration.`,
      {
        hint: 'Add it to recipients in counterfoil({ … }): the engine must know it after a restart too.',
      },
    )
  }
  const order = plan.order ?? null
  if (order !== null && !takesOrder(recipient.contract)) {
    throw new CounterfoilError(
      'order_without_fence',
      `Effect '${name}' claims order, and recipient '${recipient.name}' neither compares versions nor takes effects in turn.`,
      {
        hint: 'Remove the order, or state in the contract how the recipient rejects an older version, or that it takes effects in turn.',
      },
    )
  }
  if (order !== null && !Number.isSafeInteger(order.version)) {
    throw new CounterfoilError(
      'effect_payload_invalid',
      `The order version of effect '${name}' is not a whole number.`,
    )
  }
  const key = effectKey(plan.key)
  const fitted = await fitSchema(definition.payload, plan.payload as JsonValue, ports.clock)
  if (!fitted.ok) {
    const faults = fitted.faults.map((fault) => `${fault.path || '/'}: ${fault.message}`).join('; ')
    throw new CounterfoilError(
      'effect_payload_invalid',
      `The payload of effect '${name}' does not fit its schema: ${faults}`,
    )
  }
  const payload = fitted.value as JsonValue
  const id = timeOrderedId<EffectId>('eff', at, ports.random.bytes(10))
  const { format } = recipient.contract.idempotency ?? {}
  const identity = { recipient: recipient.name, key, ...(format === undefined ? {} : { format }) }
  const keySent = idempotencyKey(identity)
  const request = definition.request(payload)
  return {
    id,
    recipient: recipient.name,
    key,
    name,
    trigger,
    // Order belongs to the payload: equal version with another payload is a conflict, not a second effect.
    fingerprint: fingerprintOf(name, payload, order, recipient.kind === 'http' ? request : undefined),
    idempotencyKey: keySent,
    order,
    ...(order !== null && takesInTurn(recipient.contract) ? { inTurn: true as const } : {}),
    plannedAt: at,
    trace: null,
    request: ports.vault.seal(encode(recipient, request, keySent), id),
  }
}

/** A body from elsewhere belongs to it by its digest: other bytes are another payload, wherever they lie. */
function fingerprintOf(name: string, payload: JsonValue, order: Order | null, request: unknown): Fingerprint {
  const { sha256 } = (request as EffectRequest<string> | undefined)?.bodyFrom ?? {}
  try {
    return fingerprintJson({
      name,
      payload: payload ?? null,
      order: order === null ? null : { ...order },
      ...(sha256 === undefined ? {} : { body: sha256 }),
    })
  } catch (error) {
    throw new CounterfoilError(
      'effect_payload_invalid',
      `The payload of effect '${name}' is no JSON: ${describe(error)}`,
      {
        cause: error,
      },
    )
  }
}
