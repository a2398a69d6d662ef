import type { Instant } from '../domain/index.ts'
import type { BackfillView } from '../store/index.ts'

export interface BackfillProgress {
  readonly items: number
  readonly of: number
  /** From 0 to 1. */
  readonly share: number
  /** Since it was begun last; null while nothing was taken in. */
  readonly perSecond: number | null
  /** At that pace; null when there is none, or it is not running. */
  readonly leftMs: number | null
}

/** How far a backfill is. @param now while it runs */
export function progressOf({ state, plan, run }: BackfillView, now: Instant): BackfillProgress {
  const { items, resumedAt, resumedItems } = run
  const until = state === 'running' ? now : run.changedAt
  const tookMs = resumedAt === null ? 0 : until - resumedAt
  const taken = items - resumedItems
  const perSecond = tookMs > 0 && taken > 0 ? (taken * 1_000) / tookMs : null
  const left = plan.items - items
  return {
    items,
    of: plan.items,
    share: plan.items === 0 ? 1 : items / plan.items,
    perSecond,
    leftMs: state === 'running' && perSecond !== null ? Math.round((left * 1_000) / perSecond) : null,
  }
}
