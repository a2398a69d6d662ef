import {
  type Clock,
  checkIdentityPart,
  codeOf,
  deliveryDigest,
  type ErrorCode,
  fingerprintBytes,
  fingerprintJson,
  type JsonReading,
  type Log,
  type QuarantineId,
  type Random,
  type ReceiptId,
  type ReceivedEvent,
  timeOrderedId,
  type WorkerId,
} from '../domain/index.ts'
import type { Acceptance, Accepted, ReceiptRecord, Store, Vault } from '../store/index.ts'
import { answer, problem } from './answers.ts'
import { fitEvent, toEvent, type Unfit } from './event.ts'
import { mediaType, readPayload } from './payload.ts'
import type { Delivery, EventFacts, EventTypes, Producer } from './producer.ts'
import { readBody } from './read-body.ts'
import { refusalLog } from './refusal-log.ts'

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
  /** Counts by `producer outcome` or `producer code`. */
  readonly counters: Map<string, number>
  readonly handOff: HandOff | null
  readonly inFlightLimit: number
  /** Who looks after a quarantine entry of this producer. */
  readonly ownerOf: (producer: string) => string
}

export interface Intake {
  readonly counters: ReadonlyMap<string, number>
  receive(request: Request): Promise<Response>
}

interface Refusal {
  readonly kind: 'refused'
  readonly code: ErrorCode
  readonly why: string
}

const refuse = (code: ErrorCode, why: string): Refusal => ({ kind: 'refused', code, why })

/**
 * A delivery, from the first byte to the answer: limits, verification of the raw bytes, then parsing, then one
 * transaction, and only then an acknowledgement (design.md section 3, Intake).
 */
export function createReceive(ports: IntakePorts): Intake {
  const { counters } = ports
  const logRefusal = refusalLog(ports.log, ports.clock)
  let inFlight = 0

  const count = (producer: string, what: string) =>
    counters.set(`${producer} ${what}`, (counters.get(`${producer} ${what}`) ?? 0) + 1)

  function refused(producer: string, { code, why }: Refusal): Response {
    count(producer, code)
    logRefusal(producer, code, why)
    return problem(code, why)
  }

  async function receive(request: Request): Promise<Response> {
    const producer = ports.producers.get(producerName(request.url))
    // The name is the sender's choice: it is neither counted nor logged.
    if (producer === undefined)
      return refused('-', refuse('producer_unknown', 'no producer is configured at this path'))
    if (request.method !== 'POST')
      return refused(producer.name, refuse('method_not_allowed', 'deliveries are sent with POST'))
    if (inFlight >= ports.inFlightLimit)
      return refused(producer.name, refuse('overloaded', 'too many deliveries are in work'))
    inFlight++
    try {
      const accepted = await take(ports, producer, request)
      if ('kind' in accepted) return refused(producer.name, accepted)
      count(producer.name, accepted.outcome)
      return answer(accepted)
    } catch (error) {
      const code = codeOf(error) ?? 'internal'
      ports.log('error', 'a delivery could not be stored; its sender was told to send again', {
        producer: producer.name,
        code,
      })
      count(producer.name, code)
      // An overloaded store is our fault, whatever its code says to the engine.
      return problem(
        code === 'overloaded' ? 'store_unavailable' : code,
        'nothing was acknowledged; send it again',
      )
    } finally {
      inFlight--
    }
  }

  return { counters, receive }
}

async function take(ports: IntakePorts, producer: Producer, request: Request): Promise<Accepted | Refusal> {
  const { headers } = request
  const contentType = mediaType(headers.get('content-type'))
  if (!producer.kind.contentTypes.includes(contentType)) {
    return refuse(
      'content_type_unsupported',
      `this producer sends ${producer.kind.contentTypes.join(' or ')}`,
    )
  }
  const read = await readBody(request, producer.maxBytes, producer.maxReadMs, ports.clock)
  if (read.kind === 'refused') return read
  const { body } = read
  const delivery: Delivery = { header: (name) => headers.get(name), body }
  const now = ports.clock.now()
  const verification = producer.kind.verify(delivery, now)
  if (verification.kind === 'refused') return verification

  const reading = readPayload(producer, contentType, body)
  if (reading.kind === 'syntax')
    return refuse('syntax_invalid', `${reading.message}, at character ${reading.offset}`)
  const facts = producer.kind.facts(reading.kind === 'read' ? reading.value : undefined, delivery)
  const receipt = toReceipt(ports, producer, contentType, body, reading, facts, now)
  if ('kind' in receipt) return receipt
  const fit: { kind: 'fits'; data: unknown } | Unfit =
    reading.kind === 'read'
      ? await fitEvent(ports.types, producer, facts.type, facts.version, reading.value)
      : { kind: 'quarantine', reason: 'not-representable', detail: { why: reading.why, path: reading.path } }
  return fit.kind === 'fits'
    ? await acceptForPlan(ports, receipt, body, fit.data)
    : await acceptForQuarantine(ports, receipt, body, fit)
}

async function acceptForPlan(
  ports: IntakePorts,
  receipt: ReceiptRecord,
  body: Uint8Array,
  data: unknown,
): Promise<Accepted> {
  const lease = ports.handOff?.reserve() ?? null
  let delivered = false
  try {
    const accepted = await ports.store.accept(
      acceptance(ports, receipt, body, { kind: 'plan', handOff: lease }),
    )
    if (accepted.outcome === 'accepted' && lease !== null) {
      ports.handOff?.deliver({ outbox: accepted.outbox, event: toEvent(receipt, data) })
      delivered = true
    }
    return accepted
  } finally {
    if (lease !== null && !delivered) ports.handOff?.release()
  }
}

async function acceptForQuarantine(
  ports: IntakePorts,
  receipt: ReceiptRecord,
  body: Uint8Array,
  { reason, detail }: Unfit,
): Promise<Accepted> {
  const quarantine = { ...newEntry(ports, receipt), reason, detail }
  return await ports.store.accept(acceptance(ports, receipt, body, { kind: 'quarantine', quarantine }))
}

function acceptance(
  ports: IntakePorts,
  receipt: ReceiptRecord,
  body: Uint8Array,
  next: Acceptance['next'],
): Acceptance {
  return { receipt, payload: ports.vault.seal(body, receipt.id), next, onConflict: newEntry(ports, receipt) }
}

function newEntry(
  ports: IntakePorts,
  { producer, receivedAt }: ReceiptRecord,
): { id: QuarantineId; owner: string } {
  return {
    id: timeOrderedId<QuarantineId>('qua', receivedAt, ports.random.bytes(10)),
    owner: ports.ownerOf(producer),
  }
}

function toReceipt(
  ports: IntakePorts,
  producer: Producer,
  contentType: string,
  body: Uint8Array,
  reading: Exclude<JsonReading, { kind: 'syntax' }>,
  facts: EventFacts,
  receivedAt: number,
): ReceiptRecord | Refusal {
  const rawFingerprint = fingerprintBytes(body)
  // A payload that cannot be read tells no id of its own; its bytes are then what makes it the same event.
  const eventId = facts.id ?? (reading.kind === 'notRepresentable' ? `content:${rawFingerprint}` : null)
  if (eventId === null) return refuse('identity_invalid', 'the delivery carries no id')
  for (const [what, part] of [
    ['id', eventId],
    ['source', facts.source],
    ['type', facts.type ?? '-'],
  ] as const) {
    const fault = checkIdentityPart(part)
    if (fault !== undefined) return refuse('identity_invalid', `the ${what} of the event ${fault}`)
  }
  return {
    id: timeOrderedId<ReceiptId>('rcp', receivedAt, ports.random.bytes(10)),
    delivery: deliveryDigest({ namespace: producer.name, source: facts.source, id: eventId }),
    producer: producer.name,
    namespace: producer.name,
    source: facts.source,
    eventId,
    type: facts.type ?? '-',
    schemaVersion: facts.version === null ? null : facts.version.slice(0, 200),
    fingerprint:
      reading.kind === 'read'
        ? fingerprintJson(reading.value, { volatile: producer.kind.volatile })
        : rawFingerprint,
    rawFingerprint,
    contentType,
    bytes: body.byteLength,
    provenance: producer.kind.provenance,
    origin: 'live',
    eventAt: facts.at,
    receivedAt,
  }
}

/** The path behind `/in/`, without query. Names hold no characters that a URL would escape. */
function producerName(url: string): string {
  const begin = url.indexOf('/in/', url.indexOf('//') + 2)
  if (begin === -1) return ''
  const end = url.search(/[?#]/)
  return url.slice(begin + 4, end === -1 ? undefined : end)
}
