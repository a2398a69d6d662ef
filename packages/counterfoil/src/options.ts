import type { Clock, Duration, Log, OwnerRule, Random, RetentionOptions, Tracing } from './domain/index.ts'
import type { AlertDelivery, Trigger } from './engine/index.ts'
import type { ListEvents, Producer } from './intake/index.ts'
import type { Network, Recipient, RecipientSource } from './recipients/index.ts'
import type { Alert, OperatorRole, PlanTransaction, Store, Transactions } from './store/index.ts'
import type { Consumer } from './transports/index.ts'

/** An operator of the configuration. */
export interface OperatorOptions {
  readonly name: string
  readonly role: OperatorRole
  /** `sha256:SALT:HEX` of a token, as `counterfoil operators new` prints it. Without one: the command line only. */
  readonly token?: string
}

/** Sign-in at the console through an OpenID Connect provider, beside operators' tokens. Needs the package `openid-client`. */
export interface SignInOptions {
  /** Such as `https://login.example.com`; what it offers is read from there. */
  readonly issuer: string
  readonly clientId: string
  /** Without one the client is a public one; PKCE is used in any case. */
  readonly clientSecret?: string
  /** Default `openid email profile`. */
  readonly scope?: string
  /** Who somebody is here, by the verified claims of the ID token; null for nobody. */
  readonly operator: (
    claims: Readonly<Record<string, unknown>>,
  ) => { readonly name: string; readonly role: OperatorRole } | null
}

/** Decisions on these take two persons: one proposes, another, who is an approver, confirms. */
export interface TwoPersons {
  /** Names of effects, such as `invoice.collect`; `all` for every one. */
  readonly effects?: readonly string[] | 'all'
  /** A run over more quarantine entries than this, and an erasure of more receipts and effects. */
  readonly many?: number
}

/** Who is told, and of what nobody has looked at. */
export interface AlertOptions {
  /** Alerts are delivered as effects: `alertTo(effect, payload)`. */
  readonly to?: AlertDelivery
  /** An entry that waits this long with nobody assigned raises a new alert to this owner, and again. */
  readonly unattended?: { readonly after: Duration; readonly owner: string }
}

/** Old deliveries that the configuration knows a source of. */
export interface BackfillOptions {
  readonly producer: Producer
  /**
   * A file of events, a JSON value a line; a directory of stored requests; or a function that lists a vendor's
   * events, one after the other in an order that does not change.
   */
  readonly source: string | ListEvents
  /** Where each event carries a number that rises by one: holes are reported. */
  readonly sequence?: SequenceOptions
}

/** The number by which a backfill tells that events are missing. */
export interface SequenceOptions {
  /** JSON Pointer of the number in an event's payload. */
  readonly pointer: string
  /** JSON Pointer of what it counts within, such as an account. Default: all events together. */
  readonly within?: string
}

/** Messages of a broker as deliveries of a producer. */
export interface ConsumerOptions {
  /** Its name is the namespace: no message can choose it. */
  readonly producer: Producer
  readonly from: Consumer
}

/** @typeParam Tx what triggers get as `tx`: see `transactions` */
export interface CounterfoilOptions<Tx = PlanTransaction> {
  readonly store: Store
  /**
   * The program's own database client, by an adapter of `counterfoil/adapters/…`: triggers plan in its
   * transactions, and `publish` takes its handles. The store has to be in the same database. Default: triggers
   * get a small client of the store's own.
   */
  readonly transactions?: Transactions<Tx>
  readonly triggers: readonly Trigger<any, NoInfer<Tx>>[]
  /** Every recipient that a trigger plans effects for. */
  readonly recipients: readonly (Recipient<any> | RecipientSource)[]
  /** Producers without a trigger; those with one are found through it. */
  readonly producers?: readonly Producer[]
  /** Brokers whose messages are taken in, from `start()` to `stop()`. */
  readonly consumers?: readonly ConsumerOptions[]
  /** Who is told when no narrower owner is named. Default `operators`. */
  readonly owner?: string
  /** Recorded with each plan: which configuration planned it. Default `unversioned`. */
  readonly version?: string
  /** Who looks after quarantine entries of a producer or type: the first rule that fits, else the producer's owner. */
  readonly owners?: readonly OwnerRule[]
  /** Who may use the operator interface and commands; the environment may name more. */
  readonly operators?: readonly OperatorOptions[]
  readonly signIn?: SignInOptions
  /** Default: one person decides. */
  readonly twoPersons?: TwoPersons
  readonly alerts?: AlertOptions
  /** By name; others are planned from a file or a directory at the command line. */
  readonly backfills?: Readonly<Record<string, BackfillOptions>>
  /** Gets each alert at least once that no effect delivers. Default: a line on standard error. */
  readonly onAlert?: (alert: Alert) => void | Promise<void>
  /**
   * How long what is kept, and how late something may still come. Without it nothing is ever removed; `{}` keeps the
   * least that is safe.
   */
  readonly retention?: RetentionOptions
  /**
   * Sends an event of our own from its receipt to a confirmed effect again and again, through the real store, so that
   * `/metrics` and `/readyz` tell how long that takes. Each leaves a receipt and an effect, which `retention` removes.
   * Default: none.
   */
  readonly roundTrip?: { readonly every: Duration }
  /** File of vault keys, one `id:base64` a line; else the environment's `COUNTERFOIL_VAULT_KEYS`. */
  readonly vaultKeyFile?: string
  /** How long a claim on local work lasts without renewal. Default `10s`. */
  readonly lease?: Duration
  /** How long a trigger may plan. Default `5s`. */
  readonly planTimeout?: Duration
  /** How often the store is asked for work that no hint announced. Default `250ms`. */
  readonly poll?: Duration
  /** How long `stop()` waits for attempts in flight. Default `10s`. */
  readonly drain?: Duration
  /** Deliveries in work at once; more get 429. Default 1024. */
  readonly maxDeliveries?: number
  /**
   * Receipts that may wait for their plan, in the store; while more do, deliveries get 503 with Retry-After.
   * What `publish` writes in the program's own transaction is not refused. Default 1 000 000.
   */
  readonly maxBacklog?: number
  readonly clock?: Clock
  readonly random?: Random
  readonly network?: Network
  readonly log?: Log
  /** Where spans go: `openTelemetry()` of `counterfoil/opentelemetry`. Default: nothing is traced. */
  readonly tracing?: Tracing
}
