/** What the console reads of retention; lengths and times in milliseconds. */
export interface Horizons {
  /** Longest first. */
  readonly combinations: readonly {
    readonly producer: string
    readonly recipient: string
    readonly producerMs: number
    readonly queueMs: number
    readonly recipientMs: number
    readonly operatorMs: number
  }[]
  readonly audit: { readonly ms: number }
  /** Evidence is kept for at least that long. */
  readonly needed: { readonly ms: number; readonly why: string }
  readonly periods: {
    readonly payloadMs: number
    readonly evidenceMs: number
    /** Null: nothing is closed to replay. */
    readonly boundaryMs: number | null
  }
}

export interface RetentionPlan {
  /** `more`: the same request goes on. */
  readonly state: 'done' | 'more'
  readonly steps: readonly {
    readonly step: string
    readonly count: number
    readonly bytes: number
    /** False: there may be more than was counted. */
    readonly whole: boolean
  }[]
  /** Where the time begins that is open to replay; null: all of it is. */
  readonly boundary: number | null
}
