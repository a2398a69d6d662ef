import {
  type Clock,
  cutoff,
  type Instant,
  type RetentionPeriods,
  type RetentionStep,
  retentionSteps,
} from '../domain/index.ts'
import type { Forgotten, Store } from '../store/index.ts'
import { giveWay } from './give-way.ts'

/** What a step takes, or took. */
export interface StepTotal {
  readonly step: RetentionStep
  /** What was done with at this time or before; null: it is kept for ever. */
  readonly until: Instant | null
  readonly count: number
  /** Of the content, in bytes. */
  readonly bytes: number
  /** False: the run ended before the step did. */
  readonly whole: boolean
}

/** Rows that one transaction looks at: few, so that live work waits for none of them long. */
export const forgetBatch = 200

/**
 * Every step of retention in small transactions, each of which gives way to live work. What a crash leaves undone,
 * another run does: nothing is remembered of where the last one ended but what is gone.
 *
 * @param about.now all cutoffs are counted from it
 * @param about.onBatch after each batch that took something
 */
export async function forget(
  ports: { readonly store: Pick<Store, 'forget' | 'backlog'>; readonly clock: Clock },
  periods: RetentionPeriods,
  about: {
    readonly now: Instant
    readonly dryRun?: boolean
    readonly onBatch?: (total: StepTotal) => void
    /** Of each step. */
    readonly maxBatches?: number
    /** Asked before each batch; false ends the run. */
    readonly goOn?: () => boolean
  },
): Promise<StepTotal[]> {
  const { now, dryRun = false, onBatch = () => {}, goOn = () => true } = about
  const { maxBatches = Number.POSITIVE_INFINITY } = about
  const totals: StepTotal[] = []
  for (const step of retentionSteps) {
    const until = cutoff(step, periods, now)
    let total: StepTotal = { step, until, count: 0, bytes: 0, whole: until === null }
    let next: Forgotten['next'] | undefined = until === null ? null : undefined
    for (let batches = 0; next !== null && batches < maxBatches && goOn(); batches++) {
      const after = next === undefined ? {} : { after: next }
      const batch = { step, until: until!, limit: forgetBatch, dryRun, ...after }
      const answer: Forgotten = await ports.store.forget(batch)
      next = answer.next
      const [count, bytes] = [total.count + answer.count, total.bytes + answer.bytes]
      total = { step, until, count, bytes, whole: next === null }
      if (answer.count > 0) onBatch(total)
      if (!dryRun) await giveWay(ports)
    }
    totals.push(total)
  }
  return totals
}
