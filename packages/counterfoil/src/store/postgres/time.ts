import type { Instant } from '../../domain/index.ts'

/**
 * Whose clock leases and due times go by. `database`: the server's, so that machines whose clocks differ agree
 * on when a lease ended. `caller`: the one the caller gives, for tests that move time by hand; all callers then
 * have to share it.
 *
 * Records (received, begun, changed) keep the caller's time in either case: they say what it saw.
 */
export type StoreClock = 'database' | 'caller'

/** Milliseconds since the epoch by the chosen clock; `parameter` is null, or what the caller's clock says. */
export function nowSql(parameter: string): string {
  return `coalesce(${parameter}, (extract(epoch from clock_timestamp()) * 1000)::bigint)`
}

/** Carries times over the border: the caller's instants outside, the store's clock inside. */
export class Timekeeper {
  readonly #clock: StoreClock

  constructor(clock: StoreClock) {
    this.#clock = clock
  }

  /** The parameter for `nowSql`. */
  now(callers: Instant): Instant | null {
    return this.#clock === 'caller' ? callers : null
  }

  /** What stands for the caller's now where it gave none: only differences to it are sent and read. */
  get reference(): Instant {
    return this.#clock === 'caller' ? 0 : Date.now()
  }
}
