import type { Check } from './violation.ts'

/** I19: an effect that live traffic caused gets no second row and no second act from a backfill of the same events. */
export const checkBackfill: Check = ({ records, entries }, found) => {
  const origins = new Map(records.receipts.map(({ id, origin }) => [id as string, origin]))
  const live = new Map<string, string>()
  for (const { id, producer, eventId, origin } of records.receipts) {
    if (origin === 'live') live.set(`${producer} ${eventId}`, id)
  }
  for (const { id, producer, eventId, origin, conflictsWith } of records.receipts) {
    if (origin === 'live' || conflictsWith !== null) continue
    const first = live.get(`${producer} ${eventId}`)
    if (first !== undefined)
      found('I19', id, `${origins.get(id)} made a second receipt of what ${first} is the receipt of`)
  }
  for (const entry of entries) {
    if (entry.kind === 'backfilled' && entry.caused > 0)
      found('I19', entry.run, `the backfill of events that had come live caused ${entry.caused} effects more`)
  }
}
