import { createHash } from 'node:crypto'
import type { EntryOf, History, PlannedDelivery } from '../history.ts'
import type { Check } from './violation.ts'

/** I1 to I4, and I18: what was told to producers, and what the receipts say. */
export const checkIntake: Check = (history, found) => {
  const { entries, records, deliveries } = history
  const byIndex = new Map(deliveries.map((delivery) => [delivery.index, delivery]))
  const receipts = new Map(records.receipts.map((receipt) => [receipt.id as string, receipt]))
  const contents = new Set(records.receipts.map((receipt) => receipt.rawFingerprint as string))
  for (const entry of entries) {
    if (entry.kind !== 'acknowledged' || entry.status >= 300) continue
    const delivery = byIndex.get(entry.delivery)
    const about = `delivery ${entry.delivery}`
    if (entry.receipt === null || !receipts.has(entry.receipt))
      found('I1', about, `it was told ${entry.status}, and there is no receipt ${entry.receipt ?? ''}`)
    else if (!entry.committed)
      found('I1', about, `it was told ${entry.status} before its receipt ${entry.receipt} was committed`)
    if (delivery !== undefined && !isAuthentic(delivery))
      found('I1', about, `it is ${delivery.variant}, and was told ${entry.status} as if it were authentic`)
    if (
      delivery?.variant === 'altered' &&
      entry.outcome === 'duplicate' &&
      !contents.has(contentOf(delivery))
    )
      found('I17', about, 'it was told that it is a duplicate, and no receipt has its bytes')
    if (entry.outcome === 'accepted' && delivery?.beyondRetention === true)
      found('I18', about, 'it lies beyond retention, and was accepted')
  }
  checkReceipts(history, found)
}

function checkReceipts({ records, entries, deliveries }: History, found: Parameters<Check>[1]): void {
  const first = new Map<string, string>()
  const contents = new Map<string, string>()
  for (const receipt of records.receipts) {
    const identity = `${receipt.namespace} ${receipt.source} ${receipt.eventId}`
    if (receipt.conflictsWith === null) {
      const other = first.get(identity)
      if (other !== undefined) found('I2', receipt.id, `the event ${identity} has another receipt, ${other}`)
      first.set(identity, receipt.id)
    }
    const content = `${identity} ${receipt.rawFingerprint}`
    const same = contents.get(content)
    if (same !== undefined)
      found('I2', receipt.id, `the same bytes of ${identity} have another receipt, ${same}`)
    contents.set(content, receipt.id)
    if (receipt.state === 'accepted')
      found('I4', receipt.id, `its event ${receipt.eventId} is neither planned nor in quarantine`)
    if (receipt.conflictsWith !== null && receipt.state !== 'quarantined')
      found('I17', receipt.id, `it conflicts with ${receipt.conflictsWith} and is ${receipt.state}`)
  }
  if (records.strayOutbox > 0)
    found('I3', 'outbox', `${records.strayOutbox} receipts or outbox records stand alone`)
  if (records.strayQuarantine > 0)
    found('I3', 'quarantine', `${records.strayQuarantine} receipts or quarantine entries stand alone`)
  checkBytes(records, deliveries, found)
  checkPlans(records, deliveries, found)
  checkCauses(records, found)
  checkDismissed(records, entries, found)
}

/** Authentic bytes alone have receipts: those that some delivery brought. */
function checkBytes(
  records: History['records'],
  deliveries: readonly PlannedDelivery[],
  found: Parameters<Check>[1],
): void {
  const known = new Set(deliveries.filter(isAuthentic).map(({ producer, id }) => `${producer} ${id}`))
  for (const { id, producer, eventId } of records.receipts)
    if (!known.has(`${producer} ${eventId}`)) found('I3', id, `nobody sent its event ${producer} ${eventId}`)
}

/** What starts nothing is never planned, and a plan wrote its row of the program's own table once (I4). */
function checkPlans(
  records: History['records'],
  deliveries: readonly PlannedDelivery[],
  found: Parameters<Check>[1],
): void {
  // Two under one id with other content may differ in what they start.
  const byContent = new Map(deliveries.map((one) => [`${one.producer} ${one.id} ${contentOf(one)}`, one]))
  const written = new Map<string, number>()
  for (const { id, state, producer, eventId, rawFingerprint } of records.receipts) {
    const delivery = byContent.get(`${producer} ${eventId} ${rawFingerprint}`)
    if (state !== 'planned' || delivery === undefined) continue
    if (delivery.startsNothing === true) found('I4', id, 'nothing supports its event, and it is planned')
    for (const { op } of delivery.operations)
      if (op.endsWith('/written')) written.set(op, (written.get(op) ?? 0) + 1)
  }
  for (const [op, times] of records.rows)
    if (times !== (written.get(op) ?? 0))
      found('I4', op, `its row was written ${times} times by ${written.get(op) ?? 0} plans`)
}

/** I4: a receipt is planned with its effects, so each effect names receipts, and all of them are planned. */
function checkCauses(
  { causes = [], receipts, effects }: History['records'],
  found: Parameters<Check>[1],
): void {
  const states = new Map<string, string>(receipts.map(({ id, state }) => [id, state]))
  const names = new Map<string, string>(effects.map(({ id, recipient, key }) => [id, `${recipient} ${key}`]))
  for (const { effect, receipt } of causes) {
    const name = names.get(effect) ?? effect
    if (receipt === null) found('I4', name, 'it names no receipt as its cause')
    else if (states.get(receipt) !== 'planned')
      found('I4', name, `receipt ${receipt} caused it, and is ${states.get(receipt)}`)
  }
}

function contentOf({ body }: PlannedDelivery): string {
  return `raw-sha256:${createHash('sha256').update(body).digest('hex')}`
}

/** What an operator dismissed starts no work. */
function checkDismissed(
  { quarantine, receipts }: History['records'],
  entries: History['entries'],
  found: Parameters<Check>[1],
): void {
  const dismissed = new Set(
    entries
      .filter((entry): entry is EntryOf<'decided'> & { at: number } => entry.kind === 'decided')
      .filter(({ outcome }) => outcome === 'dismissed')
      .map(({ entry }) => entry),
  )
  const states = new Map(receipts.map(({ id, state }) => [id, state]))
  for (const { id, receipt, state } of quarantine) {
    if (!dismissed.has(id)) continue
    if (state !== 'dismissed') found('I12', id, `it was dismissed, and is ${state}`)
    if (states.get(receipt) === 'planned') found('I12', id, `it was dismissed, and its receipt is planned`)
  }
}

export function isAuthentic({ variant }: PlannedDelivery): boolean {
  return variant !== 'forged' && variant !== 'stale' && variant !== 'broken'
}
