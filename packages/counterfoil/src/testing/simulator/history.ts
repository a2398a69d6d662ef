import type { AuditRecord, EffectView, QuarantineView, ReceiptView } from '../../store/index.ts'

/** One thing that was seen from outside. `at` is true time in milliseconds, which no process knows. */
export type Entry = { readonly at: number } & (
  | {
      readonly kind: 'delivered'
      readonly delivery: number
      readonly process: number
      readonly try: number
    }
  /** What its sender was told; `committed`: the receipt that the answer names was in the store at that moment. */
  | {
      readonly kind: 'acknowledged'
      readonly delivery: number
      readonly status: number
      readonly outcome: string | null
      readonly receipt: string | null
      readonly committed: boolean
      readonly text: string
    }
  /** A request on the wire. `durable`: its effect and this attempt were committed at that moment. */
  | {
      readonly kind: 'sent'
      readonly recipient: string
      readonly op: string
      readonly nth: number
      readonly key: string | null
      readonly body: string
      readonly version: number | null
      readonly durable: boolean
      readonly process: number
      /** What time its sender takes it to be; absent where nobody can see that. */
      readonly clock?: number
    }
  /** What its sender heard of it: a status, or why there is none. */
  | {
      readonly kind: 'heard'
      readonly recipient: string
      readonly op: string
      readonly nth: number
      readonly status: number | null
      readonly exchange: 'answered' | 'unclear' | 'notSent'
      readonly process: number
    }
  | {
      readonly kind: 'acted'
      readonly recipient: string
      readonly op: string
      readonly key: string | null
      readonly body: string
      readonly domain: string | null
      readonly version: number | null
    }
  /** A lookup or a tombstone; `status` is null where no answer came back. */
  | {
      readonly kind: 'asked' | 'closed'
      readonly recipient: string
      readonly key: string
      readonly status: number | null
      readonly process: number
    }
  /** Somebody else sent another payload under a key that had acted, and was told this. */
  | { readonly kind: 'intruded'; readonly recipient: string; readonly op: string; readonly status: number }
  | {
      readonly kind: 'logged'
      readonly process: number
      readonly level: string
      readonly message: string
      readonly fields: Readonly<Record<string, unknown>>
    }
  /** The owner was told. */
  | {
      readonly kind: 'alerted'
      readonly reason: string
      readonly quarantine: string | null
      readonly effect: string | null
    }
  | { readonly kind: 'process'; readonly process: number; readonly what: string }
  /** An operator's decision on a quarantine entry or an effect, and the version of it that was looked at. */
  | {
      readonly kind: 'decided'
      readonly entry: string
      readonly version: number
      readonly act: string
      readonly decision: string
      readonly outcome: string
    }
  /** A move of an effect that was committed, in the order of the commits. */
  | { readonly kind: 'moved'; readonly effect: string; readonly from: string; readonly to: string }
  /** A backfill of events that had all come live before, and how many effects it added. */
  | { readonly kind: 'backfilled'; readonly run: string; readonly caused: number }
)

export type Kind = Entry['kind']
export type EntryOf<K extends Kind> = Extract<Entry, { readonly kind: K }>

/** One event as its producer means it, before any fault. */
export interface PlannedDelivery {
  readonly index: number
  readonly at: number
  readonly producer: string
  readonly id: string
  readonly type: string
  readonly body: string
  /**
   * `plain`; `copy` of an earlier one; `altered`: its id with another body; `readdressed`: its signed body under another
   * id; `forged`: not signed by the producer; `stale`: signed long ago; `broken`: signed, and no JSON.
   */
  readonly variant: 'plain' | 'copy' | 'altered' | 'readdressed' | 'forged' | 'stale' | 'broken'
  /** What a trigger of either version would plan of it, if it is ever planned. */
  readonly operations: readonly PlannedOperation[]
  /** Its trigger throws each time. */
  readonly poison: boolean
  /** No trigger supports its type, or its payload fits no schema. */
  readonly startsNothing?: boolean
  /** It is older than what the store remembers identities of. */
  readonly beyondRetention?: boolean
}

export interface PlannedOperation {
  readonly recipient: string
  readonly op: string
  readonly body: string
}

/** The store at the end, and what no row may be. */
export interface FinalRecords {
  readonly at: number
  readonly receipts: readonly ReceiptView[]
  readonly effects: readonly EffectView[]
  readonly quarantine: readonly QuarantineView[]
  readonly audit: readonly AuditRecord[]
  /** Receipts that are accepted and have no outbox record, or the reverse. */
  readonly strayOutbox: number
  /** Receipts that are quarantined and have no entry, or the reverse. */
  readonly strayQuarantine: number
  /** Which receipts each effect names as its causes, one pair each; null: it names none. Absent: not looked at. */
  readonly causes?: readonly { readonly effect: string; readonly receipt: string | null }[]
  /** Rows of the program's own table that a plan wrote, by operation. */
  readonly rows: ReadonlyMap<string, number>
}

/** Everything that a checker may look at. */
export interface History {
  readonly seed: number
  readonly deliveries: readonly PlannedDelivery[]
  readonly entries: readonly Entry[]
  readonly records: FinalRecords
  /** Alerts are among the entries. */
  readonly tellsAlerts?: boolean
  /** How long an attempt is leased for, in milliseconds. */
  readonly leaseMs?: number
  /** When the last fault was over. */
  readonly calmAt: number
  /** The promises of each recipient, by its name. */
  readonly promises: ReadonlyMap<string, Promises>
  /** Texts that may stand in no receipt, log line or answer. */
  readonly secrets: readonly string[]
}

/** What a simulated recipient really keeps, written by hand: the checkers never ask the engine's own policy. */
export interface Promises {
  /** What a repeat under a remembered key gets; null: it acts again. */
  readonly repeats: 'replayed' | 'refused' | null
  /** An error is remembered and replayed as well. */
  readonly remembersErrors: boolean
  /** How long a key is remembered, in milliseconds; infinite for ever. What may be relied on is never more. */
  readonly remembersMs: number
  /** The sender cannot know how long: no repeat is safe. */
  readonly unstated: boolean
  /**
   * It can be asked by key. `finalAfterMs`: "not there" is the last word so long after the last attempt, and nothing
   * acts later than that after it was sent; null: never. `findsForMs`: how long an act is found; default `remembersMs`.
   */
  readonly lookup: { readonly finalAfterMs: number | null; readonly findsForMs?: number } | null
  readonly fences: boolean
  /** A request acts only while the state is as its precondition says. */
  readonly conditional: boolean
  readonly tombstones: boolean
  /** It takes requests on and acts later. */
  readonly defers: boolean
}
