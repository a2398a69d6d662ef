import { CounterfoilError, type Duration, type Limits, milliseconds } from '../domain/index.ts'

/** Bounds of a recipient over all processes of one store. */
export interface LimitOptions {
  /** Attempts in flight at once. One whose lease ended counts no longer, though its call may still be on its way. */
  readonly concurrency?: number
  /**
   * Attempts begun: `count` in each `per`, over time. Up to `count` may begin at once after a quiet time, so any
   * one `per` sees fewer than twice as many. Where that is too many, write both smaller: 1 in `10ms` for 100 a second.
   */
  readonly rate?: { readonly count: number; readonly per: Duration }
}

/** @throws CounterfoilError `config_invalid` */
export function toLimits(recipient: string, { concurrency, rate }: LimitOptions): Limits {
  const refuse = (what: string): never => {
    throw new CounterfoilError('config_invalid', `The limits of recipient '${recipient}' hold ${what}.`, {
      hint: 'Counts are whole numbers from 1, and a time is longer than nothing.',
    })
  }
  if (concurrency !== undefined && !isCount(concurrency)) refuse(`a concurrency of ${concurrency}`)
  if (rate !== undefined && !isCount(rate.count)) refuse(`a rate of ${rate.count}`)
  const perMs = rate === undefined ? 0 : milliseconds(rate.per)
  if (rate !== undefined && perMs === 0) refuse('a rate in no time')
  return {
    concurrency: concurrency ?? null,
    rate: rate === undefined ? null : { count: rate.count, perMs },
  }
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1
}
