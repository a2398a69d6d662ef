import type { IncomingMessage } from 'node:http'
import { stderrLog, systemClock, systemRandom } from './ambient.ts'
import {
  type Clock,
  CounterfoilError,
  type Duration,
  type Log,
  milliseconds,
  type Random,
} from './domain/index.ts'
import { createEngine, type Engine, type Trigger } from './engine/index.ts'
import {
  createReceive,
  type EventType,
  eventTypes,
  type Intake,
  isInternal,
  type OutgoingEvent,
  type Producer,
  type PublishPorts,
  problem,
  publish,
  readEvent,
} from './intake/index.ts'
import { type Network, type Recipient, undiciNetwork } from './recipients/index.ts'
import {
  type Accepted,
  type Alert,
  loadKeyRing,
  type PlanTransaction,
  type SqlExecutor,
  type Store,
  type Transactions,
  Vault,
} from './store/index.ts'

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
  readonly recipients: readonly Recipient<any>[]
  /** Producers without a trigger; those with one are found through it. */
  readonly producers?: readonly Producer[]
  /** Who is told when no narrower owner is named. Default `operators`. */
  readonly owner?: string
  /** Recorded with each plan: which configuration planned it. Default `unversioned`. */
  readonly version?: string
  /** Gets each alert at least once. Default: a line on standard error. */
  readonly onAlert?: (alert: Alert) => void | Promise<void>
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
  readonly clock?: Clock
  readonly random?: Random
  readonly network?: Network
  readonly log?: Log
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
  /** Counts since the start, by producer and by outcome or error code. */
  readonly counters: Intake['counters']
  /** A delivery in, an answer out; the answer comes after the commit. 503 unless started. */
  receive(request: Request): Promise<Response>
  /** The same for a request of Node's HTTP server whose body nobody has read; cheaper than by way of Fetch. */
  receiveIncoming(incoming: IncomingMessage): Promise<Response>
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
}

/**
 * Puts a configuration together: checks it, and wires stores, intake and engine.
 *
 * @throws CounterfoilError `config_invalid`
 */
export function counterfoil<Tx = PlanTransaction>(options: CounterfoilOptions<Tx>): Counterfoil<Tx> {
  const { store, triggers, transactions } = options
  const recipients = byName('recipient', options.recipients) as ReadonlyMap<string, Recipient>
  const subscribed = triggers.flatMap((trigger) => trigger.on as readonly EventType[])
  const producers = byName('producer', [
    ...new Set([...subscribed.map((type) => type.producer), ...(options.producers ?? [])]),
  ])
  byName('trigger', triggers)
  checkTransactions(triggers, transactions)
  const clock = options.clock ?? systemClock
  const random = options.random ?? systemRandom
  const log = options.log ?? stderrLog
  const owner = options.owner ?? 'operators'
  const types = eventTypes(subscribed)
  const ownerOf = (name: string) => producers.get(name)?.owner ?? owner
  const counters = new Map<string, number>()
  let parts: { intake: Intake; engine: Engine; network: Network; publishing: PublishPorts } | undefined

  return {
    store,
    producers,
    triggers,
    recipients,
    owner,
    counters,
    get running() {
      return parts !== undefined
    },
    async receive(request) {
      return parts === undefined ? notStarted() : await parts.intake.receive(request)
    },
    async receiveIncoming(incoming) {
      return parts === undefined ? notStarted() : await parts.intake.receiveIncoming(incoming)
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
      const ring = loadKeyRing({
        env: process.env,
        // Beside the file; a database elsewhere has no place beside it on this machine.
        devFile: store.kind === 'sqlite' ? `${store.location}.vault-key` : 'counterfoil.vault-key',
        log,
        ...(options.vaultKeyFile === undefined ? {} : { file: options.vaultKeyFile }),
      })
      await store.open({ migrate: true })
      const vault = new Vault(ring, random)
      const network = options.network ?? undiciNetwork()
      const engine = createEngine(
        { store, vault, network, clock, random, log },
        {
          triggers,
          recipients,
          owner,
          ownerOf,
          plannedBy: options.version ?? 'unversioned',
          openEvent: (receipt, payload) => readEvent(producers, types, receipt, payload, clock),
          onAlert:
            options.onAlert ??
            (({ reason, at: raisedAt, ...about }: Alert) =>
              log('warn', `alert: ${reason}`, { ...about, raisedAt })),
          leaseMs: milliseconds(options.lease ?? '10s'),
          planTimeoutMs: milliseconds(options.planTimeout ?? '5s'),
          transactions,
          pollMs: milliseconds(options.poll ?? '250ms'),
          drainMs: milliseconds(options.drain ?? '10s'),
        },
      )
      const publishing = { producers, types, store, vault, clock, random, ownerOf }
      const intake = createReceive({
        ...publishing,
        producers: new Map([...producers].filter(([, producer]) => !isInternal(producer))),
        network,
        log,
        counters,
        handOff: work ? engine.relay : null,
        inFlightLimit: options.maxDeliveries ?? 1024,
      })
      if (work) engine.start()
      parts = { intake, engine, network, publishing }
    },
    async stop() {
      const stopping = parts
      parts = undefined
      await stopping?.engine.stop()
      await stopping?.network.close()
      await store.close()
    },
  }
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
): ReadonlyMap<string, Named> {
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
