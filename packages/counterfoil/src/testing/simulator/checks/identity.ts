import type { EntryOf, History } from '../history.ts'
import { isAuthentic } from './intake.ts'
import type { Check } from './violation.ts'

type Sent = EntryOf<'sent'>

/** I5 to I8, I17 and I19: which requests may exist at all, and with which bytes. */
export const checkIdentity: Check = (history, found) => {
  const { entries, records } = history
  const rows = new Map<string, number>()
  const keys = new Map<string, string>()
  for (const { recipient, key, idempotencyKey } of records.effects) {
    const name = `${recipient} ${key}`
    rows.set(name, (rows.get(name) ?? 0) + 1)
    const other = keys.get(`${recipient} ${idempotencyKey}`)
    if (other !== undefined) found('I8', name, `it shares its idempotency key with ${other}`)
    keys.set(`${recipient} ${idempotencyKey}`, name)
  }
  for (const [name, count] of rows) if (count > 1) found('I6', name, `it has ${count} rows`)
  const sends = new Map<string, Sent[]>()
  for (const entry of entries) {
    if (entry.kind !== 'sent') continue
    const name = `${entry.recipient} ${entry.op}`
    if (!entry.durable)
      found('I5', name, `request ${entry.nth} went out before its effect and attempt were committed`)
    if (!rows.has(name)) found('I5', name, `request ${entry.nth} went out, and it is in no ledger`)
    const before = sends.get(name)
    if (before === undefined) sends.set(name, [entry])
    else before.push(entry)
  }
  for (const [name, requests] of sends) checkRequests(name, requests, found)
  checkConflicts(history, sends, found)
  checkLeases(history, sends, found)
  for (const entry of entries) {
    if (entry.kind === 'intruded' && entry.status < 400)
      found('I17', `${entry.recipient} ${entry.op}`, `another payload under its key was told ${entry.status}`)
  }
}

/** I5: whoever sends has an attempt in flight by its own clock; once the lease is over, others go by that. */
function checkLeases(
  { records, leaseMs }: History,
  sends: ReadonlyMap<string, readonly Sent[]>,
  found: Parameters<Check>[1],
): void {
  if (leaseMs === undefined) return
  for (const { recipient, key, attempts } of records.effects) {
    const name = `${recipient} ${key}`
    for (const { nth, clock } of sends.get(name) ?? []) {
      if (clock === undefined || attempts.some(({ begunAt }) => clock < begunAt + leaseMs)) continue
      found('I5', name, `request ${nth} went out when the lease of every attempt was over`)
    }
  }
}

function checkRequests(name: string, requests: readonly Sent[], found: Parameters<Check>[1]): void {
  const keys = new Set(requests.map(({ key }) => key))
  const bodies = new Set(requests.map(({ body }) => body))
  const versions = new Set(requests.map(({ version }) => version))
  if (keys.size > 1) found('I8', name, `it went out under ${keys.size} keys: ${[...keys].join(', ')}`)
  if (bodies.size > 1)
    found('I7', name, `it went out with ${bodies.size} bodies: ${[...bodies].join(' and ')}`)
  if (versions.size > 1) found('I7', name, `it went out with the versions ${[...versions].join(', ')}`)
}

/**
 * A payload under a key that another one holds never leaves: its receipt is in quarantine. And what an altered delivery
 * would have planned never leaves either.
 */
function checkConflicts(
  { deliveries, records }: History,
  sends: ReadonlyMap<string, readonly Sent[]>,
  found: Parameters<Check>[1],
): void {
  const bodies = new Map<string, string>()
  for (const [name, [first]] of sends) bodies.set(name, essence(first!.body))
  const planned = new Map<string, number>()
  for (const { producer, eventId, state } of records.receipts)
    if (state === 'planned')
      planned.set(`${producer} ${eventId}`, (planned.get(`${producer} ${eventId}`) ?? 0) + 1)
  const contents = new Map<string, Set<string>>()
  for (const delivery of deliveries) {
    if (!isAuthentic(delivery)) continue
    const event = `${delivery.producer} ${delivery.id}`
    const known = contents.get(event) ?? new Set()
    contents.set(event, known.add(delivery.body))
  }
  for (const [event, count] of planned)
    if (count > 1) found('I17', event, `${count} contents of one event were planned`)
  for (const delivery of deliveries) {
    const event = `${delivery.producer} ${delivery.id}`
    // Of an event with two contents either may have been the first.
    if (!planned.has(event) || contents.get(event)?.size !== 1) continue
    for (const { recipient, op, body } of delivery.operations) {
      const left = bodies.get(`${recipient} ${op}`)
      if (left !== undefined && left !== body)
        found(
          'I17',
          `${recipient} ${op}`,
          `${event} is planned with ${body}, and ${left} left under the same key`,
        )
    }
  }
}

/** A request's body without the key that the contract puts into it. */
function essence(body: string): string {
  const { key: _, ...rest } = JSON.parse(body)
  return JSON.stringify(rest)
}
