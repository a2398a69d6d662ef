import type { Counterfoil } from '../counterfoil.ts'

/** Receipts that may wait for their plan before a run of many decisions adds to them. */
const maxWaiting = 500
const lookMs = 50
/** Looks without progress after which nobody seems to plan: then there is nothing to give way to. */
const maxLooks = 20

/** Waits while live work has a backlog, as long as somebody works it off. */
export async function giveWay({ store, clock }: Counterfoil): Promise<void> {
  let least = Number.POSITIVE_INFINITY
  for (let looks = 0; looks < maxLooks; looks++) {
    const waiting = (await store.status()).receipts.byState.accepted
    if (waiting <= maxWaiting) return
    if (waiting < least) looks = 0
    least = Math.min(least, waiting)
    await new Promise<void>((resolve) => clock.after(lookMs, resolve))
  }
}
