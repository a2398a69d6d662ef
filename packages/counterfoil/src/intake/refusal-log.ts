import type { Clock, ErrorCode, Log } from '../domain/index.ts'

const linesPerSecond = 10

/**
 * One bounded line for each refusal, at most ten a second: a flood of bad deliveries must not fill a disk.
 * What was left out is counted in the next line.
 */
export function refusalLog(log: Log, clock: Clock): (producer: string, code: ErrorCode, why: string) => void {
  let second = 0
  let lines = 0
  let leftOut = 0
  return (producer, code, why) => {
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
    log('warn', 'a delivery was refused; nothing of it was stored', {
      producer,
      code,
      why: why.slice(0, 200),
      ...(leftOut === 0 ? {} : { leftOut }),
    })
    leftOut = 0
  }
}
