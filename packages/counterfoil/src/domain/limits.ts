/** What all processes of one store together may do at a recipient. Null: as much as they like. */
export interface Limits {
  /** Attempts in flight: begun, not answered, and their lease runs. */
  readonly concurrency: number | null
  /** A token bucket that holds `count` and gets `count` in `perMs` milliseconds; an attempt takes one. */
  readonly rate: { readonly count: number; readonly perMs: number } | null
}
