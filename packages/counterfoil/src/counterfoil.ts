import type { IncomingMessage } from 'node:http'
import { stderrLog, systemClock, systemRandom } from './ambient.ts'
import {
  type Clock,
  CounterfoilError,
  type Duration,
  type Log,
  milliseconds,
  noTracing,
  type OwnerRule,
  ownerByRule,
  type Random,
  type Retention,
  type RetentionOptions,
  retentionOf,
  type Tracing,
} from './domain/index.ts'
import {
  type AlertDelivery,
  createEngine,
  type Engine,
  inquire,
  type Periodic,
  type Trigger,
} from './engine/index.ts'
import {
  type Arrival,
  type BackfillIntake,
  backfillIntake,
  createReceive,
  type EventType,
  eventTypes,
  gateOf,
  type Intake,
  isInternal,
  type ListEvents,
  type Opened,
  type OutgoingEvent,
  type Producer,
  type ProducerKind,
  type PublishPorts,
  problem,
  publish,
  publishAlone,
  readEvent,
} from './intake/index.ts'
import { namedEvents } from './log-events.ts'
import {
  closeRecipients,
  isSource,
  type Network,
  type Recipient,
  type RecipientSource,
  undiciNetwork,
} from './recipients/index.ts'
import { RoundTrip } from './round-trip.ts'
import {
  type Accepted,
  type Alert,
  type BackfillSource,
  type EffectView,
  loadKeyRing,
  type OperatorRole,
  type PlanTransaction,
  type ReceiptView,
  type SqlExecutor,
  type Store,
  type Transactions,
  Vault,
} from './store/index.ts'
import { type Consumer, consumerPorts } from './transports/index.ts'

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

/**
 * One value that the server, the command line and a program all take.
 *
 * @typeParam Tx what triggers get as `tx`
 */
export interface Counterfoil<Tx = PlanTransaction> {
  readonly store: Store
  readonly producers: ReadonlyMap<string, Producer>
  readonly triggers: readonly Trigger[]
  readonly recipients: ReadonlyMap<string, Recipient>
  /** Who looks after what names no narrower owner. */
  readonly owner: string
  readonly operators: readonly OperatorOptions[]
  readonly signIn: SignInOptions | undefined
  readonly twoPersons: TwoPersons
  readonly alerts: AlertOptions
  readonly backfills: ReadonlyMap<string, BackfillOptions>
  /** Null: nothing is ever removed. */
  readonly retention: Retention | null
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /**
   * Opens the store with its vault, without migrating or starting: for commands that forget, or that accept.
   * @throws `store_*`, `key_ring_*`, `vault_*`
   */
  openStore(): Promise<void>
  /** The opened payload of a receipt; null when retention removed it. The store is open. @throws `vault_*`, `key_ring_*` */
  readPayload(receipt: ReceiptView): Promise<Uint8Array | null>
  /** The opened request of an effect; null when retention removed it. @throws as `readPayload` */
  readRequest(effect: EffectView): Promise<Uint8Array | null>
  /** Asks an effect's recipient now, in an operator's name, and writes what it says as evidence. The store is open. */
  inquire(effect: EffectView, what: 'lookup' | 'tombstone', by: string): Promise<void>
  /** A stored payload by today's schemas and triggers: an event that can start work, or why it cannot. */
  openEvent(receipt: ReceiptView, payload: Uint8Array): Promise<Opened>
  /**
   * The way of a backfill through the same boundary. The store is open. @throws CounterfoilError `not_found` when
   * its producer is none that receives; `vault_*`, `key_ring_*`
   */
  backfillIntake(about: {
    readonly name: string
    readonly producer: string
    readonly source: BackfillSource
  }): BackfillIntake
  /** Counts since the start, by producer and by outcome or error code. */
  readonly counters: Intake['counters']
  /** A delivery in, an answer out; the answer comes after the commit. 503 unless started. */
  receive(request: Request): Promise<Response>
  /** The same for a request of Node's HTTP server whose body nobody has read; cheaper than by way of Fetch. */
  receiveIncoming(incoming: IncomingMessage): Promise<Response>
  /** The same for what a framework made of a request: see `counterfoil/express` and its neighbours. */
  receiveArrival(arrival: Arrival): Promise<Response>
  /**
   * Writes an event of an `internal` producer in a transaction of the program's own: it is there when that
   * commits, and was never there when it rolls back. A conflict does not throw: look at the outcome.
   *
   * @param tx the handle of the configured `transactions`; without them, what an adapter's `executor` gives
   * @throws `event_unknown`, `event_invalid`, `identity_invalid`, `transaction_missing`, `transaction_foreign`;
   *   `store_closed` unless started
   */
  publish<Input>(
    tx: [Tx] extends [PlanTransaction] ? SqlExecutor : Tx,
    event: OutgoingEvent<Input>,
  ): Promise<Accepted>
  /**
   * Opens the store, migrating it, and starts. With `work: false` this process only receives, and another one
   * plans and attempts. @throws `store_*`, `key_ring_*`
   */
  start(options?: { readonly work?: boolean }): Promise<void>
  /** Refuses new deliveries, drains, closes the store. */
  stop(): Promise<void>
  readonly running: boolean
  /** Receipts that may wait for their plan before deliveries are refused. */
  readonly maxBacklog: number
  /**
   * How long the last round trip took, or the one under way by now, in milliseconds. Null: none is configured, or none
   * was begun yet.
   */
  roundTripMs(): number | null
  /** The same configuration on other ports, for simulation; this one is left alone. */
  withPorts(ports: SimulatedPorts<Tx>): Counterfoil<Tx>
}

/** What a simulation puts in place of the outside world. Nothing of the configuration's own is reached. */
export interface SimulatedPorts<Tx = PlanTransaction>
  extends Required<Pick<CounterfoilOptions, 'store' | 'clock' | 'random' | 'network' | 'log' | 'onAlert'>>,
    Pick<CounterfoilOptions<Tx>, 'triggers' | 'recipients' | 'version' | 'poll' | 'lease'> {
  readonly vault: Vault
  /** How a producer's deliveries are read instead: a simulation has no secret to sign with. */
  readonly kindOf?: (producer: Producer) => ProducerKind
}

/**
 * Puts a configuration together: checks it, and wires stores, intake and engine.
 *
 * @throws CounterfoilError `config_invalid`
 */
export function counterfoil<Tx = PlanTransaction>(options: CounterfoilOptions<Tx>): Counterfoil<Tx> {
  return assemble(options, {})
}

function assemble<Tx>(
  options: CounterfoilOptions<Tx>,
  simulated: Partial<Pick<SimulatedPorts, 'vault' | 'kindOf'>>,
): Counterfoil<Tx> {
  const { kindOf } = simulated
  const { store, transactions } = options
  const roundTrip =
    options.roundTrip === undefined ? null : new RoundTrip(milliseconds(options.roundTrip.every))
  const probing = roundTrip === null ? [] : [roundTrip.parts]
  const triggers = [...options.triggers, ...probing.map((parts) => parts.trigger)]
  const sources = options.recipients.filter(isSource)
  const recipients = byName('recipient', [
    ...options.recipients.filter((one): one is Recipient => !isSource(one)),
    ...probing.map((parts) => parts.recipient as Recipient),
  ])
  for (const source of sources) source.attach(recipients)
  const { consumers = [] } = options
  const consumed = consumers.map((one) => one.producer)
  const subscribed = triggers.flatMap((trigger) => trigger.on as readonly EventType[])
  const producers = byName(
    'producer',
    [...new Set([...subscribed.map((type) => type.producer), ...(options.producers ?? []), ...consumed])].map(
      (producer) => (kindOf === undefined ? producer : { ...producer, kind: kindOf(producer) }),
    ),
  )
  byName('trigger', triggers)
  checkConsumers(consumers)
  checkTransactions(triggers, transactions)
  const clock = options.clock ?? systemClock
  const random = options.random ?? systemRandom
  const log = options.log === undefined ? stderrLog : namedEvents(options.log)
  const tracing = options.tracing ?? noTracing
  const owner = options.owner ?? 'operators'
  const types = eventTypes(subscribed)
  const ownerOf = (name: string, type: string) =>
    ownerByRule(options.owners ?? [], name, type) ?? producers.get(name)?.owner ?? owner
  const { operators = [], twoPersons = {}, alerts = {} } = options
  const backfills = new Map(Object.entries(options.backfills ?? {}))
  checkBackfills(backfills, producers)
  byName('operator', operators)
  const { to: delivery = null, unattended } = alerts
  if (delivery !== null && recipients.get(delivery.effect.recipient.name) !== delivery.effect.recipient) {
    throw new CounterfoilError(
      'config_invalid',
      `Alerts go to recipient '${delivery.effect.recipient.name}', which is not in the configuration.`,
      { hint: 'Add it to recipients.' },
    )
  }
  const { maxBacklog = 1_000_000 } = options
  const retention =
    options.retention === undefined
      ? null
      : retentionOf(options.retention, {
          // Ours are done with at once, and never come again.
          producers: [...producers.values()]
            .filter((one) => one !== roundTrip?.parts.producer)
            .map((one) => ({
              name: one.name,
              retryHorizon: one.kind.retryHorizon,
              isInternal: isInternal(one),
            })),
          recipients: [
            ...new Set(
              [...recipients.values(), ...sources].filter((one) => one !== roundTrip?.parts.recipient),
            ),
          ],
        })
  const counters = new Map<string, number>()
  let { vault } = simulated
  const openVault = () => {
    vault ??= new Vault(
      loadKeyRing({
        env: process.env,
        // Beside the file; a database elsewhere has no place beside it on this machine.
        devFile: store.kind === 'sqlite' ? `${store.location}.vault-key` : 'counterfoil.vault-key',
        log,
        ...(options.vaultKeyFile === undefined ? {} : { file: options.vaultKeyFile }),
      }),
      random,
    )
    return vault
  }
  const openEvent = (receipt: ReceiptView, payload: Uint8Array) =>
    readEvent(producers, types, receipt, payload, clock)
  let keyNetwork: Network | undefined
  let parts:
    | {
        intake: Intake
        engine: Engine
        network: Network
        publishing: PublishPorts
        travelling: Periodic | null
      }
    | undefined

  return {
    store,
    producers,
    triggers,
    recipients,
    owner,
    operators,
    signIn: options.signIn,
    twoPersons,
    alerts,
    backfills,
    retention,
    clock,
    random,
    log,
    counters,
    maxBacklog,
    roundTripMs: () => roundTrip?.msAt(clock.now()) ?? null,
    async openStore() {
      await store.open({ migrate: false, vault: openVault() })
    },
    async readPayload({ id, vault: place }) {
      const sealed = await store.readVault(place)
      return sealed === null ? null : openVault().open(sealed, id)
    },
    async readRequest({ id }) {
      const sealed = await store.readRequest(id)
      return sealed === null ? null : openVault().open(sealed, id)
    },
    async inquire(effect, what, by) {
      const running = parts?.network
      const network = running ?? options.network ?? undiciNetwork()
      try {
        const settings = { recipients, owner, lookAgain: () => {} }
        await inquire({ store, network, clock, random, log, tracing }, settings, effect, what, by)
      } finally {
        if (running === undefined) await network.close()
      }
    },
    openEvent,
    backfillIntake({ name, producer: from, source }) {
      const producer = producers.get(from)
      if (producer === undefined || isInternal(producer)) {
        throw new CounterfoilError('not_found', `No producer '${from}' receives in this configuration.`, {
          hint: 'See: counterfoil check',
        })
      }
      // Without start(): what is planned at the command line may need a vendor's keys.
      keyNetwork ??= options.network ?? undiciNetwork()
      const network = parts?.network ?? keyNetwork
      const listed = backfills.get(name)?.source
      return backfillIntake(
        { vault: openVault(), random, ownerOf, types, clock },
        gateOf(producer, network, clock),
        { name, source, list: typeof listed === 'function' ? listed : null },
      )
    },
    withPorts({ vault, kindOf, ...ports }) {
      // Alerts, traces and the program's own database client lead out of the simulation.
      const { transactions: _, tracing: __, roundTrip: ___, ...rest } = options
      return assemble(
        { ...rest, alerts: {}, consumers: [], producers: [...(rest.producers ?? []), ...consumed], ...ports },
        { vault, ...(kindOf === undefined ? {} : { kindOf }) },
      )
    },
    get running() {
      return parts !== undefined
    },
    async receive(request) {
      return parts === undefined ? notStarted() : await parts.intake.receive(request)
    },
    async receiveIncoming(incoming) {
      return parts === undefined ? notStarted() : await parts.intake.receiveIncoming(incoming)
    },
    async receiveArrival(arrival) {
      return parts === undefined ? notStarted() : await parts.intake.receiveArrival(arrival)
    },
    async publish(tx, event) {
      if (parts === undefined) {
        throw new CounterfoilError('store_closed', 'The program publishes before start() or after stop().', {
          hint: 'Await start() first; with { work: false } another process plans and attempts.',
        })
      }
      const executor =
        transactions === undefined ? (tx as SqlExecutor) : await transactions.executor(tx as Tx)
      return await publish(parts.publishing, executor, event)
    },
    async start({ work = true } = {}) {
      if (parts !== undefined) return
      // Before the store: production without a key must not even make a file.
      const vault = openVault()
      await store.open({ migrate: true, vault })
      const network = options.network ?? undiciNetwork()
      const engine = createEngine(
        { store, vault, network, clock, random, log, tracing },
        {
          triggers,
          recipients,
          sources,
          owner,
          ownerOf,
          plannedBy: options.version ?? 'unversioned',
          openEvent,
          alertTo: delivery,
          unattended:
            unattended === undefined
              ? null
              : { afterMs: milliseconds(unattended.after), owner: unattended.owner },
          onAlert:
            options.onAlert ??
            (({ reason, at: raisedAt, ...about }: Alert) =>
              log('warn', `alert: ${reason}`, { ...about, raisedAt })),
          retainer:
            retention?.everyMs == null ? null : { periods: retention.periods, everyMs: retention.everyMs },
          leaseMs: milliseconds(options.lease ?? '10s'),
          planTimeoutMs: milliseconds(options.planTimeout ?? '5s'),
          transactions,
          pollMs: milliseconds(options.poll ?? '250ms'),
          drainMs: milliseconds(options.drain ?? '10s'),
        },
      )
      const publishing = { producers, types, store, vault, clock, random, ownerOf, tracing }
      const intake = createReceive({
        ...publishing,
        producers: new Map([...producers].filter(([, producer]) => !isInternal(producer))),
        network,
        log,
        counters,
        handOff: work ? engine.relay : null,
        inFlightLimit: options.maxDeliveries ?? 1024,
        backlogLimit: maxBacklog,
      })
      if (work) engine.start()
      const travelling =
        (work &&
          roundTrip?.start({
            ...{ store, clock, random, log },
            accept: (event) => publishAlone(publishing, event),
          })) ||
        null
      parts = { intake, engine, network, publishing, travelling }
      for (const { producer: of, from } of consumers) {
        from.start(
          consumerPorts({
            producer: of.name,
            broker: from.broker,
            receive: intake.receiveArrival,
            clock,
            log,
          }),
        )
      }
    },
    async stop() {
      const stopping = parts
      // First: what they have in hand is settled while there is an intake to take it.
      if (stopping !== undefined) await Promise.all(consumers.map(({ from }) => from.stop()))
      parts = undefined
      await stopping?.travelling?.stop()
      await stopping?.engine.stop()
      if (stopping !== undefined) await closeRecipients(recipients.values())
      await stopping?.network.close()
      await store.close()
    },
  }
}

/** A name becomes part of each receipt's origin, and of routes. */
export const backfillName = /^[A-Za-z0-9._-]{1,100}$/

function checkBackfills(
  backfills: ReadonlyMap<string, BackfillOptions>,
  producers: ReadonlyMap<string, Producer>,
): void {
  for (const [name, { producer }] of backfills) {
    if (!backfillName.test(name)) {
      throw new CounterfoilError('config_invalid', `'${name}' is no name of a backfill.`, {
        hint: 'Give 1 to 100 letters, digits or . _ -',
      })
    }
    if (producers.get(producer.name) === producer && !isInternal(producer)) continue
    throw new CounterfoilError(
      'config_invalid',
      `Backfill '${name}' is of producer '${producer.name}', which does not receive in this configuration.`,
      { hint: 'Add it to producers, or subscribe to an event of it.' },
    )
  }
}

/** What the program publishes itself comes from no broker. */
function checkConsumers(consumers: readonly ConsumerOptions[]): void {
  const own = consumers.find(({ producer }) => isInternal(producer))
  if (own === undefined) return
  throw new CounterfoilError(
    'config_invalid',
    `Producer '${own.producer.name}' is the program itself, and a consumer takes messages in for it.`,
    { hint: 'Give the messages of a broker a producer of their own.' },
  )
}

/** A handle of another client than the one that began the transaction would be none. */
function checkTransactions(triggers: readonly Trigger[], transactions: Transactions<any> | undefined): void {
  const stranger = triggers.find((trigger) => trigger.in !== undefined && trigger.in !== transactions)
  if (stranger === undefined) return
  throw new CounterfoilError(
    'config_invalid',
    `Trigger '${stranger.name}' plans in transactions of ${stranger.in?.client} that the configuration does not have.`,
    { hint: 'Give one value to `transactions` of the configuration and to `in` of its triggers.' },
  )
}

function byName<Named extends { readonly name: string }>(
  what: string,
  named: readonly Named[],
): Map<string, Named> {
  const map = new Map<string, Named>()
  for (const one of named) {
    if (map.has(one.name)) {
      throw new CounterfoilError('config_invalid', `Two ${what}s are named '${one.name}'.`, {
        hint: 'Give each a name of its own.',
      })
    }
    map.set(one.name, one)
  }
  return map
}

function notStarted(): Response {
  return problem(503, 'store_closed', 'The receiver is starting or stopping.', { 'retry-after': '1' })
}
