import type { BackfillProgress } from '../../packages/counterfoil/src/operate/index.ts'
import type { BackfillView } from '../../packages/counterfoil/src/store/index.ts'

/** A backfill as the operator interface shows it. */
export interface ShownBackfill extends BackfillView {
  readonly progress: BackfillProgress
}
