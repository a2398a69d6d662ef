const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/**
 * Waits after the first, the second, … attempt that did not succeed, in milliseconds: the schedule of Standard Webhooks
 * 1.0.0, ten attempts in 75 h 35 min. The last one goes on, once a day, until the endpoint is switched off.
 */
export const standardSchedule: readonly number[] = [
  5 * second,
  5 * minute,
  30 * minute,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour),
]

/** @param attempt the one that ended, from 1 */
export function waitAfter(schedule: readonly number[], attempt: number): number {
  return schedule[Math.min(attempt, schedule.length) - 1] ?? 0
}
