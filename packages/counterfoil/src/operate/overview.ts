import type { Counterfoil } from '../counterfoil.ts'
import type { Instant } from '../domain/index.ts'
import type { StoreStatus } from '../store/index.ts'
import { authorise, type Operator } from './operator.ts'
import { healthOf, type RecipientHealth } from './recipient-health.ts'
import { type Bucket, bucketMs, bucketsOf, bucketsShown, minuteOf } from './samples.ts'

export interface Overview {
  readonly at: Instant
  readonly status: StoreStatus
  /** Since when the oldest of each waits; null: none does. */
  readonly waitingSince: {
    readonly outbox: Instant | null
    readonly planned: Instant | null
    readonly attempting: Instant | null
    readonly unknown: Instant | null
    readonly quarantine: Instant | null
  }
  readonly recipients: readonly RecipientHealth[]
  readonly rates: { readonly bucketMs: number; readonly buckets: readonly Bucket[] }
}

/** How things are now and went in the last hour. Costs what is open costs, not what is done. */
export async function overview(app: Counterfoil, operator: Operator): Promise<Overview> {
  authorise(operator, 'overview')
  const { store, clock } = app
  const at = clock.now()
  const [status, { recipients, quarantineSince }, samples] = await Promise.all([
    store.status(),
    healthOf(app),
    store.listSamples(minuteOf(at) - bucketsShown),
  ])
  const oldest = (state: 'planned' | 'attempting' | 'unknown') => {
    const times = recipients.flatMap(({ open }) => open[state].oldestAt ?? [])
    return times.length === 0 ? null : Math.min(...times)
  }
  return {
    at,
    status,
    waitingSince: {
      outbox: status.outbox.oldestAt,
      planned: oldest('planned'),
      attempting: oldest('attempting'),
      unknown: oldest('unknown'),
      quarantine: quarantineSince,
    },
    recipients,
    rates: { bucketMs, buckets: bucketsOf(samples, status, at) },
  }
}
