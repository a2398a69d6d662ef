import type { ShownBackfill } from '../backfill.ts'
import { lengthOf } from './when.tsx'

/** How far a backfill is, and how long it will take at its present pace. */
export function Progress({ of: { plan, run, progress, name } }: { readonly of: ShownBackfill }) {
  const share = plan.items === 0 ? 1 : run.items / plan.items
  const left = progress.leftMs === null ? '' : `, ${lengthOf(progress.leftMs)} left`
  return (
    <span class="progress">
      <progress max={1} value={share} aria-label={`${name} taken in`} />
      <span>
        {Math.floor(share * 100)} %{left}
      </span>
    </span>
  )
}
