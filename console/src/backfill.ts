import type { BackfillProgress } from '../../packages/counterfoil/src/operate/index.ts'
import type { BackfillView } from '../../packages/counterfoil/src/store/index.ts'

/** A backfill as the operator interface answers it; times and lengths in milliseconds. */
export type ShownBackfill = BackfillView & { readonly progress: BackfillProgress }
