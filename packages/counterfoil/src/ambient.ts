import { randomBytes } from 'node:crypto'
import type { Clock, Log, Random } from './domain/index.ts'
import { namedEvents } from './log-events.ts'
import { logLine } from './log-line.ts'

/** The machine's own clock, randomness and standard error, behind the ports. */

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

/** Random bytes are drawn from the kernel in blocks: one call for many ids and nonces. */
export const systemRandom: Random = {
  bytes(count) {
    if (pool.length - used < count) {
      pool = randomBytes(Math.max(4096, count))
      used = 0
    }
    used += count
    return pool.subarray(used - count, used)
  },
  fraction: () => Math.random(),
}
let pool: Uint8Array = new Uint8Array(0)
let used = 0

/** One line of JSON on standard error. */
export const stderrLog: Log = namedEvents((level, message, fields = {}) => {
  process.stderr.write(`${logLine(Date.now(), level, message, fields)}\n`)
})
