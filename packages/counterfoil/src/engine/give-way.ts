import type { Clock } from '../domain/index.ts'
import type { Store } from '../store/index.ts'

/** Receipts that may wait for their plan before work that can wait adds to them. */
const maxWaiting = 500
const lookMs = 50
/** Looks without progress after which nobody seems to plan: then there is nothing to give way to. */
const maxLooks = 20

/** Waits while live work has a backlog, as long as somebody works it off. */
export async function giveWay({
  store,
  clock,
}: {
  readonly store: Pick<Store, 'backlog'>
  readonly clock: Clock
}): Promise<void> {
  let least = Number.POSITIVE_INFINITY
  for (let looks = 0; looks < maxLooks; looks++) {
    const waiting = await store.backlog()
    if (waiting <= maxWaiting) return
    if (waiting < least) looks = 0
    least = Math.min(least, waiting)
    await new Promise<void>((resolve) => clock.after(lookMs, resolve))
  }
}
