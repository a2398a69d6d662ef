import { CounterfoilError } from '../domain/index.ts'
import type { EffectDefinition, Recipient } from '../recipients/index.ts'
import type { Alert, OutboxRecord } from '../store/index.ts'
import { describe } from './failure-text.ts'
import { patiently } from './patience.ts'
import { toEffect } from './planned-effect.ts'
import type { PlannerPorts } from './planner.ts'

/** What an alert says, for the payload of the effect that delivers it. No payload of an event is in it. */
export interface AlertNotice extends Alert {
  /** One sentence for people. */
  readonly text: string
}

/** Where alerts go: an effect at a recipient of the program's own. */
export interface AlertDelivery {
  readonly effect: EffectDefinition<any, boolean>
  readonly payload: (alert: AlertNotice) => unknown
}

/**
 * Delivers alerts as effects: planned, attempted, kept as unknown and reconciled as every other. Its key is
 * `alert/quarantine/ENTRY/OCCASION`, or `alert/effect/EFFECT/OCCASION`, so no alert is delivered twice by a
 * recipient that knows its keys.
 *
 * @example
 * alertTo(postMessage, (alert) => ({ channel: alert.owner, text: alert.text }))
 */
export function alertTo<Payload>(
  effect: EffectDefinition<Payload, boolean>,
  payload: (alert: AlertNotice) => Payload,
): AlertDelivery {
  return { effect, payload }
}

export interface AlertSettings {
  readonly recipients: ReadonlyMap<string, Recipient>
  readonly alertTo: AlertDelivery | null
  /** Where an alert goes that no effect can deliver. */
  readonly onAlert: (alert: Alert) => void | Promise<void>
}

type AlertRecord = Extract<OutboxRecord, { readonly kind: 'alert' }>

const keyPrefix = 'alert/'

/** Hands one alert on, or postpones it. @returns true when an effect may have become due */
export async function handOnAlert(
  ports: PlannerPorts,
  settings: AlertSettings,
  { outbox, tries, alert }: AlertRecord,
): Promise<boolean> {
  try {
    const planned = await planAlert(ports, settings, outbox, alert)
    if (planned !== null) return planned
    await settings.onAlert(alert)
  } catch (error) {
    const text = describe(error)
    const waitMs = Math.min(1_000 * 2 ** tries, 300_000)
    ports.log('warn', 'an alert could not be handed on; it is tried again', { ...alert, error: text, waitMs })
    const at = ports.clock.now() + waitMs
    await patiently(ports, 'postpone', () => ports.store.postponePlan({ outbox, at, error: text }))
    return false
  }
  await patiently(ports, 'consume', () => ports.store.consumeAlert(outbox))
  return false
}

/** @returns null when no effect delivers it */
async function planAlert(
  ports: PlannerPorts,
  { alertTo: delivery, recipients }: AlertSettings,
  outbox: number,
  alert: Alert,
): Promise<boolean | null> {
  // The delivery of an alert may itself become an alert: that one is not sent the same way, or they would never end.
  if (delivery === null || (await isAboutDelivery(ports, delivery, alert))) return null
  const at = ports.clock.now()
  const plan = { key: keyOf(alert), payload: delivery.payload({ ...alert, text: alertText(alert) }) }
  const effect = await toEffect(
    ports,
    recipients,
    { trigger: 'alert', definition: delivery.effect, plan },
    at,
  )
  const planned = await ports.store.planAlert({ outbox, at, effect })
  if (planned.kind !== 'conflict') return planned.kind === 'planned' && planned.created
  throw new CounterfoilError('effect_payload_invalid', `The key ${effect.key} is taken by another payload.`)
}

async function isAboutDelivery(
  { store }: PlannerPorts,
  { effect: { recipient } }: AlertDelivery,
  alert: Alert,
): Promise<boolean> {
  if (alert.effect === null) return false
  const [story] = await store.showEffects(alert.effect)
  return story?.effect.recipient === recipient.name && story.effect.key.startsWith(keyPrefix)
}

function keyOf({ quarantine, effect, occasion }: Alert): string {
  const subject = quarantine === null ? `effect/${effect}` : `quarantine/${quarantine}`
  return `${keyPrefix}${subject}/${occasion}`
}

/** One sentence for people: what happened, whose it is, and where to look. */
export function alertText({ reason, owner, quarantine, effect, occasion }: Alert): string {
  if (quarantine === null) return `Effect ${effect} needs ${owner}: ${reason}.`
  const [what] = occasion.split('/')
  const event =
    what === 'unattended'
      ? 'nobody has looked at it yet'
      : what === 'returned'
        ? `it came back to quarantine: ${reason}`
        : reason
  return `Quarantine entry ${quarantine} waits for ${owner}: ${event}.`
}
