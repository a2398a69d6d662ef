/** What every system under measure is asked to do. Each figure has a fresh process and a database of its own. */

export interface Item {
  /** Random, so that it meets every page of an index, as identities of many producers do. */
  readonly id: string
  /** About 1 kB as JSON. */
  readonly body: Body
}

export interface Body {
  readonly id: string
  readonly [member: string]: unknown
}

export interface Place {
  /** Of an empty database. */
  readonly url: string
  /** Process id of the server. */
  readonly postmaster: number
  /** Where effects go, or null when an effect is to do nothing. */
  readonly sink: string | null
}

/** Takes single items; a send fulfils after its own commit. */
export interface Sending {
  /** What the sender does before the clock runs: signing, making a request. May be a promise. */
  prepare(item: Item): unknown
  send(prepared: unknown): Promise<void>
  close(): Promise<void>
}

/** Works on what waits until it is stopped. */
export interface Working {
  /** True when the database holds every item's end. Asked only after each item's effect was seen. */
  finished(): Promise<boolean>
  close(): Promise<void>
}

export interface Contender {
  /** Ready to take items; nothing works on them. */
  sending?(place: Place): Promise<Sending>
  /** Leaves the items waiting for a `working` in another process. */
  filled?(place: Place, items: readonly Item[]): Promise<void>
  /** `acted` is called once for each effect: as it begins for one that does nothing, after its answer for a call. */
  working?(place: Place, acted: () => void): Promise<Working>
  /** Both in one process, for one item at a time; set for short waits. */
  idling?(place: Place, acted: () => void): Promise<Sending>
  /** Adds finished items, as a long life leaves them. */
  aged?(place: Place, items: number): Promise<void>
}
