import type { Store } from '../../packages/counterfoil/src/store/index.ts'
import type { Cluster } from './cluster.ts'

export interface Run {
  readonly cluster: Cluster
  readonly store: Store
  /** Ids of the events whose message the stream confirmed. */
  readonly sent: readonly string[]
  readonly customers: readonly string[]
  readonly each: number
}

/** What was broken: by the records of the store and by what lies in the stream, which know nothing of each other. */
export async function verdict({ cluster, store, sent, customers, each }: Run): Promise<string[]> {
  const violations: string[] = []
  const receipts = await pages((before) => store.listReceipts({ limit: 500, ...before }))
  const ids = new Set(receipts.map(({ eventId }) => eventId))
  if (receipts.length !== ids.size) violations.push('an event has two receipts')
  for (const id of sent) if (!ids.has(id)) violations.push(`lost: the event ${id} has no receipt`)
  for (const { eventId, state } of receipts)
    if (state !== 'planned') violations.push(`the receipt of ${eventId} is ${state}`)

  const effects = await pages((before) => store.listEffects({ limit: 500, ...before }))
  if (effects.length !== sent.length)
    violations.push(`${sent.length} events led to ${effects.length} effects`)
  for (const { key, state } of effects) if (state !== 'confirmed') violations.push(`${key} is ${state}`)

  const keyOf = new Map(effects.map(({ idempotencyKey, key }) => [idempotencyKey as string, key as string]))
  const there = await cluster.read('tests.out.')
  for (const customer of customers) {
    const own = there
      .filter(({ subject }) => subject === `tests.out.${customer}`)
      .map(({ id }) => keyOf.get(id) ?? id)
    const wanted = Array.from({ length: each }, (_, n) => `note/${customer}/${n + 1}`)
    if (own.join() !== wanted.join())
      violations.push(`the stream has of ${customer}: ${own.map((key) => key.split('/').at(-1)).join(' ')}`)
  }
  return violations
}

async function pages<Row extends { readonly id: string }>(
  page: (before: { before?: string }) => Promise<Row[]>,
): Promise<Row[]> {
  const all: Row[] = []
  for (;;) {
    const last = all.at(-1)
    const rows = await page(last === undefined ? {} : { before: last.id })
    if (rows.length === 0) return all
    all.push(...rows)
  }
}
