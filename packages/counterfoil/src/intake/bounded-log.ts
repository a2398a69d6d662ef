import type { Clock, Log } from '../domain/index.ts'

/** More lines than this in one second are only counted. */
export const linesPerSecond = 10

/**
 * A log that a flood cannot fill a disk with: ten lines a second, and a count of what was left out with the next
 * one. The counters have the true figures at any time.
 */
export function boundedLog(log: Log, clock: Clock): Log {
  let second = 0
  let lines = 0
  let leftOut = 0
  return (level, message, fields) => {
    const now = Math.floor(clock.now() / 1000)
    if (now !== second) {
      second = now
      lines = 0
    }
    if (lines >= linesPerSecond) {
      leftOut++
      return
    }
    lines++
    log(level, message, leftOut === 0 ? fields : { ...fields, leftOut })
    leftOut = 0
  }
}
