import type { Clock, ReceivedEvent, TraceParent, Tracing, WorkerId } from '../domain/index.ts'
import { type Acceptance, type Accepted, BeyondRetention, type Store } from '../store/index.ts'
import { type AcceptancePorts, acceptance } from './acceptance.ts'
import type { Arrival } from './arrival.ts'
import { authenticate, verify } from './authenticate.ts'
import { ArrivedDelivery } from './delivery.ts'
import { type Fit, toEvent } from './event.ts'
import type { Gate } from './gate.ts'
import { type Interpreted, interpret, live } from './interpret.ts'
import type { KeySource } from './key-source.ts'
import type { EventTypes, Producer } from './producer.ts'
import type { OwnAnswer } from './producer-kind.ts'
import { type Refusal, refuse } from './refusal.ts'
import { acceptAllTraced, acceptTraced } from './traced-acceptance.ts'

/** How the engine takes over what was just accepted, in memory. An optimisation: the outbox record is durable. */
export interface HandOff {
  /** Before the receipt is written: room, and the lease its record gets; null when it should wait in the store. */
  reserve(): { readonly worker: WorkerId; readonly leaseMs: number } | null
  deliver(work: {
    readonly outbox: number
    readonly event: ReceivedEvent
    readonly trace: TraceParent | null
  }): void
  /** Nothing came of it. */
  release(): void
}

export interface TakePorts extends AcceptancePorts {
  readonly types: EventTypes
  readonly store: Pick<Store, 'accept' | 'acceptAll'>
  readonly clock: Clock
  readonly handOff: HandOff | null
  readonly tracing: Tracing
}

/** What became of a delivery. An `Accepted` is one event, an array the elements of a batch, in their order. */
export type Taken =
  | Accepted
  | readonly Accepted[]
  | Refusal
  | { readonly kind: 'handshake'; readonly answer: OwnAnswer }

/**
 * A delivery, from the first byte to the commit: limits, verification of the raw bytes, then parsing, then one
 * transaction (design.md section 3, Intake).
 *
 * @param delivery the span of its arrival
 * @throws whatever is our own fault
 */
export async function take(
  ports: TakePorts,
  gate: Gate,
  arrival: Arrival,
  delivery: TraceParent | null,
): Promise<Taken> {
  const { producer, keys, rate } = gate
  const waitMs = rate === null ? 0 : rate.wait()
  if (waitMs > 0) {
    return { kind: 'refused', code: 'rate_limited', why: 'more than the rate allows', retryAfterMs: waitMs }
  }
  if (arrival.method !== 'POST') return await shakeHands(ports, producer, keys, arrival)
  const authentic = await authenticate(producer, keys, ports.clock, arrival)
  if (authentic.kind === 'refused') return authentic
  rate?.take()

  const { mediaType, receivedAt } = authentic
  const interpreted = await interpret(ports, producer, authentic.delivery, { mediaType, receivedAt, ...live })
  switch (interpreted.kind) {
    case 'refused':
    case 'handshake':
      return interpreted
    case 'event':
      return await acceptTraced(ports.tracing, interpreted.event, delivery, (event) => accept(ports, event))
    case 'events':
      return await acceptAllTraced(ports.tracing, interpreted.events, delivery, (events) =>
        acceptAll(ports, events),
      )
  }
}

/** A request without a body of its own brings no event. It is verified all the same before it is answered. */
async function shakeHands(
  ports: TakePorts,
  producer: Producer,
  keys: KeySource,
  arrival: Arrival,
): Promise<Taken> {
  const delivery = new ArrivedDelivery(arrival, producer.publicUrl, new Uint8Array(0))
  const verification = await verify(producer, delivery, ports.clock.now(), keys)
  if (verification.kind === 'refused') return verification
  const answer = producer.kind.handshake?.(delivery, undefined) ?? null
  return answer === null
    ? refuse('method_not_allowed', 'deliveries are sent with POST')
    : { kind: 'handshake', answer }
}

/** An acceptance with the place that is held for it at whoever plans it. */
interface Entry {
  readonly acceptance: Acceptance
  readonly fit: Fit
  /** The place is neither used nor given back yet. */
  holdsPlace: boolean
}

/** Design decision 1: one transaction. Whoever plans it is told after the commit, and told nothing if there was none. */
async function accept(ports: TakePorts, event: Interpreted): Promise<Accepted | Refusal> {
  const entry = toEntry(ports, event)
  try {
    const accepted = await ports.store.accept(entry.acceptance)
    handOver(ports, entry, accepted)
    return accepted
  } catch (error) {
    if (!(error instanceof BeyondRetention)) throw error
    const boundary = new Date(error.boundary).toISOString()
    return { ...refuse('beyond_retention', error.message), members: { boundary } }
  } finally {
    giveBack(ports, entry)
  }
}

/** All in one transaction: an answer that acknowledges some of them is one that no producer understands. */
async function acceptAll(ports: TakePorts, events: readonly Interpreted[]): Promise<readonly Accepted[]> {
  const entries: Entry[] = []
  try {
    // One that is beyond retention waits in quarantine: to refuse it would be to refuse the others.
    for (const event of events) entries.push(toEntry(ports, event, 'quarantined'))
    if (entries.length === 0) return []
    const accepted = await ports.store.acceptAll(entries.map(({ acceptance }) => acceptance))
    for (const [index, one] of accepted.entries()) handOver(ports, entries[index]!, one)
    return accepted
  } finally {
    for (const entry of entries) giveBack(ports, entry)
  }
}

function toEntry(
  ports: TakePorts,
  { receipt, body, fit }: Interpreted,
  beyond?: Acceptance['beyond'],
): Entry {
  const lease = fit.kind === 'fits' ? (ports.handOff?.reserve() ?? null) : null
  try {
    const made = acceptance(ports, receipt, body, fit, lease)
    const entry = beyond === undefined ? made : { ...made, beyond }
    return { acceptance: entry, fit, holdsPlace: lease !== null }
  } catch (error) {
    if (lease !== null) ports.handOff?.release()
    throw error
  }
}

function handOver(ports: TakePorts, entry: Entry, accepted: Accepted): void {
  if (!entry.holdsPlace || entry.fit.kind !== 'fits' || accepted.outcome !== 'accepted') return
  entry.holdsPlace = false
  ports.handOff?.deliver({
    outbox: accepted.outbox,
    event: toEvent(entry.acceptance.receipt, entry.fit),
    trace: entry.acceptance.receipt.trace,
  })
}

function giveBack(ports: TakePorts, entry: Entry): void {
  if (!entry.holdsPlace) return
  entry.holdsPlace = false
  ports.handOff?.release()
}
