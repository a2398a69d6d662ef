import type { Counterfoil } from '../counterfoil.ts'
import type { Instant } from '../domain/index.ts'
import type { Sample, StoreStatus } from '../store/index.ts'

/** What happened in one minute, or null where nobody sampled. Counted, but for those that say what waited at its end. */
export interface Bucket {
  /** Its beginning. */
  readonly at: Instant
  readonly receipts: number | null
  readonly duplicates: number | null
  readonly planned: number | null
  readonly confirmed: number | null
  readonly refused: number | null
  readonly fenced: number | null
  readonly withdrawn: number | null
  /** Waited or was unknown at its end. */
  readonly outboxWaiting: number | null
  readonly quarantineWaiting: number | null
  readonly unknown: number | null
}

export const bucketMs = 60_000
export const bucketsShown = 60
/** Minutes that samples are kept. */
const keptMinutes = 1_440

const rising = ['receipts', 'duplicates', 'planned', 'confirmed', 'refused', 'fenced', 'withdrawn'] as const
const standing = ['outboxWaiting', 'quarantineWaiting', 'unknown'] as const

/** Keeps the totals of this minute; whoever comes first does, and what others sample in it is left. */
export async function takeSample({ store, clock }: Counterfoil): Promise<void> {
  const totals = totalsOf(await store.status())
  const minute = minuteOf(clock.now())
  await store.keepSample({ minute, totals, oldest: minute - keptMinutes })
}

/** Takes a sample now and at the beginning of each minute. @returns the end of it */
export function sampleEachMinute(app: Counterfoil, onError: (error: unknown) => void): () => void {
  let cancel = () => {}
  const take = () => {
    takeSample(app).catch(onError)
    cancel = app.clock.after(bucketMs - (app.clock.now() % bucketMs), take)
  }
  take()
  return () => cancel()
}

/** The last hour, oldest first; the last bucket is the minute that runs. */
export function bucketsOf(samples: readonly Sample[], status: StoreStatus, now: Instant): Bucket[] {
  const byMinute = new Map(samples.map(({ minute, totals }) => [minute, totals]))
  const running = minuteOf(now)
  byMinute.set(running + 1, totalsOf(status))
  return Array.from({ length: bucketsShown }, (_, index) => {
    const minute = running - bucketsShown + 1 + index
    const [before, after] = [byMinute.get(minute), byMinute.get(minute + 1)]
    const counted = rising.map((name) => [
      name,
      before === undefined || after === undefined
        ? null
        : Math.max(0, (after[name] ?? 0) - (before[name] ?? 0)),
    ])
    const stood = standing.map((name) => [name, after?.[name] ?? null])
    return { at: minute * bucketMs, ...Object.fromEntries([...counted, ...stood]) } as Bucket
  })
}

export function minuteOf(at: Instant): number {
  return Math.floor(at / bucketMs)
}

function totalsOf({ receipts, effects, outbox, quarantine }: StoreStatus): Record<string, number> {
  const { confirmed, refused, fenced, withdrawn, unknown } = effects.byState
  return {
    receipts: receipts.total,
    duplicates: receipts.duplicates,
    planned: effects.total,
    confirmed,
    refused,
    fenced,
    withdrawn,
    outboxWaiting: outbox.waiting,
    quarantineWaiting: quarantine,
    unknown,
  }
}
