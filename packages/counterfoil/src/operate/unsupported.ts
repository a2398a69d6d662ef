import { type EventType, eventTypes, isSupported } from '../intake/index.ts'
import type { Store } from '../store/index.ts'

/** A type that came, is authentic, and starts no work. */
export interface UnsupportedType {
  readonly producer: string
  readonly type: string
  readonly version: string | null
  /** Receipts in quarantine because of it, among the entries that were looked at. */
  readonly count: number
}

/** Newest entries that are looked at. */
export const maxEntries = 5_000
const pageSize = 500

/**
 * Types in quarantine that no trigger supports today, the most frequent first. One that a trigger was added for
 * since is not among them.
 */
export async function unsupportedTypes(
  store: Pick<Store, 'listQuarantine'>,
  subscribed: readonly EventType[],
): Promise<UnsupportedType[]> {
  const types = eventTypes(subscribed)
  const found = new Map<string, UnsupportedType>()
  let next: string | null | undefined
  for (let seen = 0; seen < maxEntries && next !== null; seen += pageSize) {
    const page = await store.listQuarantine({
      limit: pageSize,
      reason: 'unsupported-type',
      state: 'waiting',
      ...(next === undefined ? {} : { before: next }),
    })
    for (const { producer, type, detail } of page.entries) {
      const version = typeof detail.version === 'string' ? detail.version : null
      if (isSupported(types, producer, type, version)) continue
      const key = JSON.stringify([producer, type, version])
      found.set(key, { producer, type, version, count: (found.get(key)?.count ?? 0) + 1 })
    }
    next = page.next
  }
  return [...found.values()].toSorted((one, other) => other.count - one.count)
}
