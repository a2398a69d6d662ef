import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Finding } from '../store.ts'

/** Beyond these a finding is a warning, or a problem. */
const limits = {
  /** The write-ahead log is moved into the file at 16 MB; it only grows further while somebody reads for long. */
  logBytes: { warning: 128_000_000, problem: 1_000_000_000 },
  freeBytes: { warning: 1_000_000_000, problem: 100_000_000 },
  /** Work that is due and that nobody takes. */
  lateMs: 600_000,
  /** A larger file is not read through: that would keep others waiting. */
  checkedBytes: 1_000_000_000,
} as const

/** Looks at a store's file, its log, its disk and what waits in it. Changes nothing. */
export function examine(db: DatabaseSync, path: string, now: number): Finding[] {
  const fileBytes = statSync(path).size
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const { bsize, bavail } = statfsSync(dirname(path))
  const { synchronous } = db.prepare('pragma synchronous').get() as { synchronous: number }
  const { late } = db
    .prepare('select count(*) as late from (select 1 from counterfoil_due where at < ? limit 1000)')
    .get(now - limits.lateMs) as { late: number }
  return [
    synchronous >= 2
      ? good('synchronous', 'Every commit waits for the disk.')
      : finding(
          'synchronous',
          'problem',
          'A power cut may lose what was committed.',
          'Open the store with sqlite() as it is.',
        ),
    integrity(db, fileBytes),
    graded('log', logBytes, limits.logBytes, `The write-ahead log has ${megabytes(logBytes)}.`, {
      above: true,
      hint: 'A process reads for long, or none ever closes the file: end long reads, and it is moved into the file.',
    }),
    graded('disk', bsize * bavail, limits.freeBytes, `${megabytes(bsize * bavail)} of the disk are free.`, {
      above: false,
      hint: 'Make room: without it deliveries are answered 503.',
    }),
    late === 0
      ? good('late', 'No work is due for more than 10 minutes.')
      : finding(
          'late',
          'warning',
          `${late === 1000 ? 'More than 1000' : late} effects are due for more than 10 minutes.`,
          'See that a process works: counterfoil serve.',
        ),
  ]
}

function integrity(db: DatabaseSync, bytes: number): Finding {
  if (bytes > limits.checkedBytes) {
    return good('integrity', `The file has ${megabytes(bytes)} and was not read through.`)
  }
  const { quick_check: said } = db.prepare('pragma quick_check(1)').get() as { quick_check: string }
  return said === 'ok'
    ? good('integrity', `Every page of the file is whole (${megabytes(bytes)}).`)
    : finding('integrity', 'problem', `The file is damaged: ${said}.`, 'Stop the program and restore a copy.')
}

function graded(
  check: string,
  value: number,
  { warning, problem }: { readonly warning: number; readonly problem: number },
  says: string,
  { above, hint }: { readonly above: boolean; readonly hint: string },
): Finding {
  const beyond = (limit: number) => (above ? value > limit : value < limit)
  if (beyond(problem)) return finding(check, 'problem', says, hint)
  return beyond(warning) ? finding(check, 'warning', says, hint) : good(check, says)
}

function good(check: string, says: string): Finding {
  return { check, level: 'good', says, hint: null }
}

function finding(check: string, level: 'warning' | 'problem', says: string, hint: string): Finding {
  return { check, level, says, hint }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
