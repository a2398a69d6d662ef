import type { Acceptance } from '../store.ts'

/** Copies of one delivery that came together: the first speaks for all. */
export interface Arrivals {
  readonly first: Acceptance
  readonly copies: readonly Acceptance[]
}

/** Those that have the same identity and the same content, in the order of the first of each. */
export function arrivals(entries: readonly Acceptance[]): { arrivals: Arrivals[]; of: number[] } {
  const found: { first: Acceptance; copies: Acceptance[] }[] = []
  const places = new Map<string, number>()
  const of = entries.map((entry) => {
    const name = `${entry.receipt.delivery} ${entry.receipt.fingerprint}`
    const place = places.get(name)
    if (place !== undefined) {
      found[place]!.copies.push(entry)
      return place
    }
    places.set(name, found.length)
    return found.push({ first: entry, copies: [] }) - 1
  })
  return { arrivals: found, of }
}

/** Two with one of these in common cannot be decided in one statement: the second has to see the first's row. */
export function namesOf({ first: { receipt } }: Arrivals): string[] {
  const content = receipt.provenance === 'unsigned' ? [`${receipt.fingerprint} ${receipt.producer}`] : []
  return [receipt.delivery, receipt.id, ...content]
}
