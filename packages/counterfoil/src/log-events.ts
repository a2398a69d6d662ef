import type { Log } from './domain/index.ts'

/**
 * What Counterfoil writes to its log: how a message begins, and the name of it that stays the same when its words are
 * mended. docs/telemetry.md lists them.
 */
export const logEvents: readonly (readonly [beginning: string, event: string])[] = [
  ['a delivery was refused', 'delivery.refused'],
  ['a delivery could not be stored', 'delivery.failed'],
  ['the same content came under another id', 'delivery.same-content'],
  ['the outbox could not be read', 'outbox.unreadable'],
  ['an outbox record could not be handed on', 'outbox.not-handed-on'],
  ['leases of outbox records could not be renewed', 'outbox.not-renewed'],
  ['a plan failed; it is tried again', 'plan.retried'],
  ['a plan failed for the last time', 'plan.failed'],
  ['a plan ends its processes', 'plan.lost'],
  ['effect conflict', 'plan.conflict'],
  ['the store gave no due effects', 'effects.unreadable'],
  ['an effect could not be worked on', 'effect.failed'],
  ['leases could not be renewed', 'effects.not-renewed'],
  ['a late answer could not be written', 'effect.late-answer-lost'],
  ['a fact came that the lifecycle does not allow', 'effect.fact-refused'],
  ['the store did not take a chunk', 'backfill.retried'],
  ['the store did not take a ', 'store.retried'],
  ['alert: ', 'alert'],
  ['an alert could not be handed on', 'alert.retried'],
  ['quarantine could not be looked through', 'quarantine.unreadable'],
  ['retention could not be applied', 'retention.retried'],
  ['a backfill halted', 'backfill.halted'],
  ['a backfill is done', 'backfill.done'],
  ['backfills could not be looked at', 'backfill.unreadable'],
  ['a round trip could not be made', 'round-trip.failed'],
  ['DEVELOPMENT VAULT KEY', 'vault.development-key'],
  ['the guard could not decide', 'guard.failed'],
  ['a published contract could not be read', 'contract.kept-one-holds'],
  ['a published contract could not be kept', 'contract.not-kept'],
  ['a published contract is another', 'contract.changed'],
]

export function eventOf(message: string): string | undefined {
  return logEvents.find(([beginning]) => message.startsWith(beginning))?.[1]
}

const credential = /authorization|cookie|secret|password|token|credential|api-?key|payload|^body$/i

/** The log that rooms write to: each record says which event it is, and a field that is named like a secret is covered. */
export function namedEvents(log: Log): Log {
  return (level, message, fields = {}) => {
    const covered = Object.entries(fields).map(([name, value]) => [
      name,
      credential.test(name) ? '[covered]' : value,
    ])
    const event = eventOf(message)
    log(level, message, { ...(event === undefined ? {} : { event }), ...Object.fromEntries(covered) })
  }
}
