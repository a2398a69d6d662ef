import type { IncomingMessage } from 'node:http'
import { codeOf, type Log, readTraceParent, type Span, type SpanAbout } from '../domain/index.ts'
import type { Network } from '../recipients/index.ts'
import type { Accepted, Store } from '../store/index.ts'
import { acknowledgement, batchAcknowledgement, ownAnswer, refusal, unavailable } from './answers.ts'
import { type Arrival, fromIncoming, fromRequest } from './arrival.ts'
import { Backlog } from './backlog.ts'
import { boundedLog } from './bounded-log.ts'
import { type Gate, gateOf } from './gate.ts'
import type { Producer } from './producer.ts'
import { type Refusal, refuse } from './refusal.ts'
import { type Taken, type TakePorts, take } from './take.ts'

/** A backlog takes a while to shrink. */
const backlogRetryMs = 10_000

export interface IntakePorts extends TakePorts {
  readonly producers: ReadonlyMap<string, Producer>
  readonly network: Pick<Network, 'send'>
  readonly log: Log
  /** Counts by `producer outcome` or `producer code`; `-` stands for a producer that is not configured. */
  readonly counters: Map<string, number>
  /** Deliveries in work at once; more get 429. */
  readonly inFlightLimit: number
  /** Receipts that may wait for their plan; while more do, deliveries get 503. */
  readonly backlogLimit: number
  readonly store: TakePorts['store'] & Pick<Store, 'backlog'>
}

export interface Intake {
  readonly counters: ReadonlyMap<string, number>
  /** A Fetch request, whose body nobody has read. */
  receive(request: Request): Promise<Response>
  /** The same for a request of Node's HTTP server, at half the cost: its body is read from the socket. */
  receiveIncoming(incoming: IncomingMessage): Promise<Response>
  /** The same for what came in another way: what a framework made of a request, a message of a broker. */
  receiveArrival(arrival: Arrival): Promise<Response>
}

/** Who receives what, and what its sender is told: an acknowledgement only after the commit (design.md section 3, Intake). */
export function createReceive(ports: IntakePorts): Intake {
  const { counters, clock } = ports
  // Apart, so that a flood of bad deliveries does not hide that the store is down.
  const logRefusal = boundedLog(ports.log, clock)
  const logFailure = boundedLog(ports.log, clock)
  const gates = new Map(
    [...ports.producers].map(([name, producer]) => [name, gateOf(producer, ports.network, clock)]),
  )
  const backlog = new Backlog(() => ports.store.backlog(), ports.backlogLimit, clock)
  let inFlight = 0

  function count(producer: string, what: string): void {
    const key = `${producer} ${what}`
    counters.set(key, (counters.get(key) ?? 0) + 1)
  }

  function refused(name: string, { code, why, retryAfterMs, members }: Refusal, gate?: Gate): Response {
    count(name, code)
    logRefusal('warn', 'a delivery was refused; nothing of it was stored', { producer: name, code, why })
    const about: Record<string, string> = {}
    if (code === 'method_not_allowed') about.allow = gate?.allow ?? 'POST'
    if (retryAfterMs !== undefined) about['retry-after'] = String(Math.ceil(retryAfterMs / 1000))
    return refusal(code, why, about, gate?.producer.kind.answer, members)
  }

  function noted(name: string, accepted: Accepted): void {
    count(name, accepted.outcome)
    if (accepted.outcome === 'accepted' && accepted.sameContentAs !== null) {
      const { receipt, sameContentAs } = accepted
      const fields = { producer: name, receipt, sameContentAs }
      logRefusal('warn', 'the same content came under another id', fields)
    }
  }

  function answered(gate: Gate, taken: Taken): Response {
    const { name, kind } = gate.producer
    if ('outcome' in taken) {
      noted(name, taken)
      return acknowledgement(taken, kind.answer)
    }
    if (!('kind' in taken)) {
      for (const one of taken) noted(name, one)
      return batchAcknowledgement(taken, kind.answer)
    }
    if (taken.kind === 'refused') return refused(name, taken, gate)
    count(name, 'handshake')
    return ownAnswer(taken.answer)
  }

  function failed(producer: string, error: unknown): Response {
    const code = codeOf(error) ?? 'internal'
    count(producer, code)
    const fields = { producer, code, ...describe(error) }
    logFailure('error', 'a delivery could not be stored; its sender was told to send again', fields)
    return unavailable(code)
  }

  async function receive(arrival: Arrival): Promise<Response> {
    const gate = gates.get(producerName(arrival.url))
    // The name is the sender's choice: it is neither counted nor logged.
    if (gate === undefined) {
      return refused('-', refuse('producer_unknown', 'no producer is configured at this path'))
    }
    const { producer } = gate
    if (arrival.method !== 'POST' && !gate.methods.includes(arrival.method)) {
      return refused(producer.name, refuse('method_not_allowed', 'deliveries are sent with POST'), gate)
    }
    if (!arrival.headersFit()) {
      return refused(
        producer.name,
        refuse('headers_too_large', 'there are too many headers, or too large ones'),
        gate,
      )
    }
    if (inFlight >= ports.inFlightLimit) {
      return refused(producer.name, refuse('overloaded', 'too many deliveries are in work'), gate)
    }
    // Our own fault, so no 4xx; and before a byte of the body is read.
    if (backlog.isFull()) {
      const full = refuse('backlog_full', 'too many receipts wait for their plan')
      return refused(producer.name, { ...full, retryAfterMs: backlogRetryMs }, gate)
    }
    inFlight++
    try {
      return await ports.tracing.span(arriving(producer, arrival), (span) => takeWithin(span, gate, arrival))
    } finally {
      inFlight--
    }
  }

  async function takeWithin(span: Span, gate: Gate, arrival: Arrival): Promise<Response> {
    let response: Response
    try {
      response = answered(gate, await take(ports, gate, arrival, span.context))
    } catch (error) {
      response = failed(gate.producer.name, error)
    }
    span.set({ 'http.response.status_code': response.status })
    if (response.status >= 500) span.failed(String(response.status))
    return response
  }

  return {
    counters,
    receive: (request) => receive(fromRequest(request)),
    receiveIncoming: (incoming) => receive(fromIncoming(incoming)),
    receiveArrival: receive,
  }
}

/** By OpenTelemetry's conventions for HTTP servers; goes on from what the sender traces. */
function arriving({ name }: Producer, { method, scheme, header }: Arrival): SpanAbout {
  const route = `/in/${name}`
  return {
    name: `${method} ${route}`,
    kind: 'server',
    parent: readTraceParent(header('traceparent')) ?? 'current',
    attributes: { 'http.request.method': method, 'http.route': route, 'url.scheme': scheme },
  }
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
