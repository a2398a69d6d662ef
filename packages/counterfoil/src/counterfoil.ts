import type { IncomingMessage } from 'node:http'
import { stderrLog, systemClock, systemRandom } from './ambient.ts'
import { byName, checkBackfills, checkConsumers, checkTransactions } from './configuration-checks.ts'
import {
  type Clock,
  CounterfoilError,
  type Log,
  milliseconds,
  noTracing,
  ownerByRule,
  type Random,
  type Retention,
  retentionOf,
} from './domain/index.ts'
import { createEngine, type Engine, inquire, type Periodic, type Trigger } from './engine/index.ts'
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
import type {
  AlertOptions,
  BackfillOptions,
  CounterfoilOptions,
  OperatorOptions,
  SignInOptions,
  TwoPersons,
} from './options.ts'
import { closeRecipients, isSource, type Network, type Recipient, undiciNetwork } from './recipients/index.ts'
import { RoundTrip } from './round-trip.ts'
import {
  type Accepted,
  type Alert,
  type BackfillSource,
  type EffectView,
  loadKeyRing,
  type PlanTransaction,
  type ReceiptView,
  type SqlExecutor,
  type Store,
  Vault,
} from './store/index.ts'
import { consumerPorts } from './transports/index.ts'

export { backfillName } from './configuration-checks.ts'
export type * from './options.ts'

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

function notStarted(): Response {
  return problem(503, 'store_closed', 'The receiver is starting or stopping.', { 'retry-after': '1' })
}
