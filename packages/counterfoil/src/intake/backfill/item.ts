import type { BackfillSource } from '../../store/index.ts'

/** What an item may be larger than its producer's body by: headers that stand before or around it. */
export const headerRoom = 65_536

/** One piece of a source: a line, a stored request, or a listed event. */
export interface BackfillItem {
  /** For people: `line 12`, `request march/0001.http`, `event 12`. */
  readonly place: string
  /** Null: there are more than may be. */
  readonly bytes: Uint8Array | null
  /** SHA-256 of all of them, however many. */
  readonly digest: Uint8Array
  /** Where the source goes on. */
  readonly next: Place
}

/** A place in a source, to go on from. */
export interface Place {
  /** A byte of a file, or a count of items. */
  readonly at: number
  /** Lines or items before it. */
  readonly before: number
}

export const beginning: Place = { at: 0, before: 0 }

/**
 * A vendor's own list of events.
 *
 * @param about.until give only what happened until then: asked again, it is the same list in the same order
 */
export type ListEvents = (about: { readonly until: number }) => AsyncIterable<unknown> | Iterable<unknown>

export interface ReadOptions {
  readonly from: Place
  /** Bytes of one item at most. */
  readonly maxBytes: number
}

/** The kinds of source that lie in the file system. */
export type StoredSource = Exclude<BackfillSource, { readonly kind: 'listed' }>
