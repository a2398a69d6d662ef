import type { IncomingMessage } from 'node:http'
import {
  type Clock,
  codeOf,
  type ErrorCode,
  type Log,
  type QuarantineId,
  type Random,
  type ReceivedEvent,
  timeOrderedId,
  type WorkerId,
} from '../domain/index.ts'
import type { Acceptance, Accepted, ReceiptRecord, Store, Vault } from '../store/index.ts'
import { acknowledgement, refusal, unavailable } from './answers.ts'
import { type Arrival, fromIncoming, fromRequest } from './arrival.ts'
import { boundedLog } from './bounded-log.ts'
import { type Fit, fitEvent, toEvent } from './event.ts'
import { acceptedType, readPayload } from './payload.ts'
import type { Delivery, EventTypes, Producer } from './producer.ts'
import { toReceipt } from './receipt.ts'

/** How the engine takes over what was just accepted, in memory. An optimisation: the outbox record is durable. */
export interface HandOff {
  /** Before the receipt is written: room, and the lease its record gets; null when it should wait in the store. */
  reserve(): { readonly worker: WorkerId; readonly leaseMs: number } | null
  deliver(work: { readonly outbox: number; readonly event: ReceivedEvent }): void
  /** Nothing came of it. */
  release(): void
}

export interface IntakePorts {
  readonly producers: ReadonlyMap<string, Producer>
  readonly types: EventTypes
  readonly store: Pick<Store, 'accept'>
  readonly vault: Pick<Vault, 'seal'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Counts by `producer outcome` or `producer code`; `-` stands for a producer that is not configured. */
  readonly counters: Map<string, number>
  readonly handOff: HandOff | null
  /** Deliveries in work at once; more get 429. */
  readonly inFlightLimit: number
  /** Who looks after a quarantine entry of this producer. */
  readonly ownerOf: (producer: string, type: string) => string
}

export interface Intake {
  readonly counters: ReadonlyMap<string, number>
  /** A Fetch request, whose body nobody has read. */
  receive(request: Request): Promise<Response>
  /** The same for a request of Node's HTTP server, at half the cost: its body is read from the socket. */
  receiveIncoming(incoming: IncomingMessage): Promise<Response>
}

interface Refusal {
  readonly kind: 'refused'
  readonly code: ErrorCode
  readonly why: string
}

/**
 * A delivery, from the first byte to the answer: limits, verification of the raw bytes, then parsing, then one
 * transaction, and only then an acknowledgement (design.md section 3, Intake).
 */
export function createReceive(ports: IntakePorts): Intake {
  const { counters, clock } = ports
  // Apart, so that a flood of bad deliveries does not hide that the store is down.
  const logRefusal = boundedLog(ports.log, clock)
  const logFailure = boundedLog(ports.log, clock)
  let inFlight = 0

  function count(producer: string, what: string): void {
    const key = `${producer} ${what}`
    counters.set(key, (counters.get(key) ?? 0) + 1)
  }

  function refused(producer: string, { code, why }: Refusal): Response {
    count(producer, code)
    logRefusal('warn', 'a delivery was refused; nothing of it was stored', { producer, code, why })
    return refusal(code, why)
  }

  function acknowledged(producer: string, accepted: Accepted): Response {
    count(producer, accepted.outcome)
    if (accepted.outcome === 'accepted' && accepted.sameContentAs !== null) {
      const { receipt, sameContentAs } = accepted
      logRefusal('warn', 'the same content came under another id', { producer, receipt, sameContentAs })
    }
    return acknowledgement(accepted)
  }

  function failed(producer: string, error: unknown): Response {
    const code = codeOf(error) ?? 'internal'
    count(producer, code)
    const fields = { producer, code, ...describe(error) }
    logFailure('error', 'a delivery could not be stored; its sender was told to send again', fields)
    return unavailable(code)
  }

  async function receive(arrival: Arrival): Promise<Response> {
    const producer = ports.producers.get(producerName(arrival.url))
    // The name is the sender's choice: it is neither counted nor logged.
    if (producer === undefined) {
      return refused('-', refuse('producer_unknown', 'no producer is configured at this path'))
    }
    const { name } = producer
    if (arrival.method !== 'POST') {
      return refused(name, refuse('method_not_allowed', 'deliveries are sent with POST'))
    }
    if (inFlight >= ports.inFlightLimit) {
      return refused(name, refuse('overloaded', 'too many deliveries are in work'))
    }
    inFlight++
    try {
      const accepted = await take(ports, producer, arrival)
      return 'kind' in accepted ? refused(name, accepted) : acknowledged(name, accepted)
    } catch (error) {
      return failed(name, error)
    } finally {
      inFlight--
    }
  }

  return {
    counters,
    receive: (request) => receive(fromRequest(request)),
    receiveIncoming: (incoming) => receive(fromIncoming(incoming)),
  }
}

async function take(ports: IntakePorts, producer: Producer, arrival: Arrival): Promise<Accepted | Refusal> {
  const { kind } = producer
  const mediaType = acceptedType(kind.contentTypes, arrival.header('content-type'))
  if (mediaType === null) {
    return refuse('content_type_unsupported', `this producer sends ${kind.contentTypes.join(' or ')}`)
  }
  const read = await arrival.readBody(producer, ports.clock)
  if (read.kind === 'refused') return read
  const { body } = read
  const delivery: Delivery = { header: arrival.header, body }
  const receivedAt = ports.clock.now()
  const verification = kind.verify(delivery, receivedAt)
  if (verification.kind === 'refused') return verification

  const reading = readPayload(producer, mediaType, body)
  if (reading.kind === 'syntax') {
    return refuse('syntax_invalid', `${reading.message}, at character ${reading.offset}`)
  }
  const facts = kind.facts(reading.kind === 'read' ? reading.value : undefined, delivery)
  const receipt = toReceipt({ producer, mediaType, body, reading, facts, receivedAt }, ports.random)
  if (typeof receipt === 'string') return refuse('identity_invalid', receipt)
  const asked = { type: receipt.type, version: receipt.schemaVersion }
  const fit: Fit =
    reading.kind === 'read'
      ? await fitEvent(ports.types, producer, asked, reading.value, ports.clock)
      : { kind: 'quarantine', reason: 'not-representable', detail: { why: reading.why, path: reading.path } }
  return await accept(ports, receipt, body, fit)
}

/** Design decision 1: one transaction. Whoever plans it is told after the commit, and told nothing if there was none. */
async function accept(
  ports: IntakePorts,
  receipt: ReceiptRecord,
  body: Uint8Array,
  fit: Fit,
): Promise<Accepted> {
  const lease = fit.kind === 'fits' ? (ports.handOff?.reserve() ?? null) : null
  let delivered = false
  try {
    const accepted = await ports.store.accept(acceptance(ports, receipt, body, fit, lease))
    if (lease !== null && fit.kind === 'fits' && accepted.outcome === 'accepted') {
      delivered = true
      ports.handOff?.deliver({ outbox: accepted.outbox, event: toEvent(receipt, fit.data) })
    }
    return accepted
  } finally {
    if (lease !== null && !delivered) ports.handOff?.release()
  }
}

function acceptance(
  ports: IntakePorts,
  receipt: ReceiptRecord,
  body: Uint8Array,
  fit: Fit,
  lease: ReturnType<HandOff['reserve']>,
): Acceptance {
  const owner = ports.ownerOf(receipt.producer, receipt.type)
  const entry = () => ({
    id: timeOrderedId<QuarantineId>('qua', receipt.receivedAt, ports.random.bytes(10)),
    owner,
  })
  return {
    receipt,
    payload: ports.vault.seal(body, receipt.id),
    next:
      fit.kind === 'fits'
        ? { kind: 'plan', handOff: lease }
        : { kind: 'quarantine', quarantine: { ...entry(), reason: fit.reason, detail: fit.detail } },
    onConflict: entry(),
  }
}

function refuse(code: ErrorCode, why: string): Refusal {
  return { kind: 'refused', code, why }
}

/** Our own errors say no secret and no payload. Of any other only name and place are told: its text may hold either. */
function describe(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: typeof error }
  if (codeOf(error) !== undefined) return { error: error.message.slice(0, 300) }
  const place = error.stack?.split('\n').find((line) => line.startsWith('    at '))
  return { error: error.name.slice(0, 50), place: place?.trim().slice(0, 200) }
}

/** The path behind `/in/`, without query. Names hold no characters that a URL would escape. */
function producerName(url: string): string {
  const begin = url.indexOf('/in/', url.startsWith('/') ? 0 : url.indexOf('//') + 2)
  if (begin === -1) return ''
  const end = url.search(/[?#]/)
  return url.slice(begin + 4, end === -1 ? undefined : end)
}
