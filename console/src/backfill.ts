type Figures = Readonly<Record<string, number>>

interface Sample<Value> {
  readonly count: number
  /** Some of them, the first ones. */
  readonly first: readonly Value[]
}

/** What the console reads of a backfill; times and lengths in milliseconds. */
export interface ShownBackfill {
  readonly name: string
  readonly state: 'planned' | 'approved' | 'running' | 'paused' | 'halted' | 'done'
  readonly plan: {
    readonly producer: string
    readonly source: object
    readonly at: number
    readonly by: string
    /** What an approval is bound to. */
    readonly digest: string
    readonly items: number
    readonly counts: Figures
    readonly faults: Sample<{ readonly place: string; readonly why: string }>
    readonly gaps: {
      readonly lacking: Sample<string>
      readonly unlisted: Sample<string>
      readonly holes: Sample<{ readonly within: string; readonly from: string; readonly to: string }> | null
      readonly from: number | null
      readonly to: number | null
    }
  }
  readonly run: {
    readonly approval: { readonly by: string; readonly reason: string } | null
    readonly rate: number | null
    readonly items: number
    readonly counts: Figures
    readonly begunAt: number | null
    readonly endedAt: number | null
    readonly halted: string | null
  }
  readonly progress: { readonly leftMs: number | null }
}
