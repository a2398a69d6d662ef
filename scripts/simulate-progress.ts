import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Tally, type TallyRecord } from 'counterfoil/testing'

/** Seeds from the first to before the second. */
export type Range = readonly [from: number, to: number]

/** What a process found in one range. */
export interface Report {
  readonly tally: TallyRecord
  readonly cpuMs: number
  /** Seeds of schedules in which an invariant was broken. */
  readonly failed: readonly number[]
}

/** One call of the command, as far as it came. */
interface Sitting {
  /** ISO 8601. */
  readonly began: string
  /** The commit that was checked out, because what a seed plays belongs to a version of the sources; null: not known. */
  readonly revision: string | null
  schedules: number
  cpuMs: number
}

/** The file: everything that is known of a run, and what is missing before `next`. */
interface ProgressRecord extends Report {
  readonly from: number
  readonly next: number
  readonly left: readonly Range[]
  readonly sittings: readonly Sitting[]
}

/**
 * A run of many seeds that may be killed at any moment and goes on from its file: seeds that were handed out and not reported
 * are handed out again, and what was reported is never counted twice.
 */
export class Progress {
  readonly from: number
  readonly total: Tally = new Tally()
  readonly failed: number[] = []
  readonly sittings: Sitting[] = []
  cpuMs = 0
  readonly #file: string | undefined
  #next: number
  /** Handed out before, by a call of the command that ended, and not reported. */
  readonly #left: Range[] = []
  readonly #out = new Set<Range>()

  /** @param file where the run is kept and, if it is there, goes on */
  constructor(about: { from: number; revision: string | null; file?: string | undefined }) {
    this.from = about.from
    this.#file = about.file
    this.#next = about.from
    const known = about.file === undefined ? undefined : recordIn(about.file)
    if (known !== undefined) this.#goOn(known)
    this.sittings.push({
      began: new Date().toISOString(),
      revision: about.revision,
      schedules: 0,
      cpuMs: 0,
    })
  }

  /** @throws Error for a run that began at another seed: its sum would not be what it says */
  #goOn({ from, next, left, tally, cpuMs, failed, sittings }: ProgressRecord): void {
    if (from !== this.from)
      throw new Error(
        `${this.#file} holds a run from seed ${from}, not from ${this.from}: give --from ${from}`,
      )
    this.#next = next
    this.#left.push(...left)
    this.total.merge(tally)
    this.cpuMs = cpuMs
    this.failed.push(...failed)
    this.sittings.push(...sittings)
  }

  /** @returns a range before `end`, `most` seeds at most; nothing when all are handed out */
  take(end: number, most: number): Range | undefined {
    const range = this.#left.shift() ?? this.#fresh(end, most)
    if (range !== undefined) this.#out.add(range)
    return range
  }

  #fresh(end: number, most: number): Range | undefined {
    if (this.#next >= end) return undefined
    const range: Range = [this.#next, Math.min(this.#next + most, end)]
    this.#next = range[1]
    return range
  }

  done(range: Range, { tally, cpuMs, failed }: Report): void {
    this.#out.delete(range)
    this.total.merge(tally)
    this.cpuMs += cpuMs
    this.failed.push(...failed)
    const now = this.sittings.at(-1)!
    now.schedules += tally.schedules
    now.cpuMs += cpuMs
    this.#write()
  }

  /** Whole or not at all: a run that is killed while it writes has the file of before. */
  #write(): void {
    if (this.#file === undefined) return
    const record: ProgressRecord = {
      from: this.from,
      next: this.#next,
      left: [...this.#left, ...this.#out],
      tally: this.total.toJSON(),
      cpuMs: this.cpuMs,
      failed: this.failed,
      sittings: this.sittings,
    }
    writeFileSync(`${this.#file}.new`, `${JSON.stringify(record)}\n`)
    renameSync(`${this.#file}.new`, this.#file)
  }
}

function recordIn(file: string): ProgressRecord | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return JSON.parse(text) as ProgressRecord
}
