import { noTracing, type Span, type SpanAbout, type TraceParent, type Tracing } from '../domain/index.ts'
import type { Accepted, ReceiptRecord } from '../store/index.ts'
import type { Interpreted } from './interpret.ts'
import type { Refusal } from './refusal.ts'

/** What writes a receipt is a span, by OpenTelemetry's conventions for who sends a message: its plan takes it from there. */
export function accepting(
  { producer, id }: ReceiptRecord,
  from: Pick<SpanAbout, 'parent' | 'links'>,
): SpanAbout {
  return {
    name: `accept ${producer}`,
    kind: 'producer',
    ...from,
    attributes: {
      'messaging.system': 'counterfoil',
      'messaging.operation.name': 'accept',
      'messaging.operation.type': 'send',
      'messaging.destination.name': producer,
      'messaging.message.id': id,
    },
  }
}

/** The receipt says which span wrote it. */
export function writtenBy(event: Interpreted, { context }: Span): Interpreted {
  return context === null ? event : { ...event, receipt: { ...event.receipt, trace: context } }
}

export async function acceptTraced<Result extends Accepted | Refusal>(
  tracing: Tracing,
  event: Interpreted,
  delivery: SpanAbout['parent'],
  accept: (event: Interpreted) => Promise<Result>,
): Promise<Result> {
  return await tracing.span(accepting(event.receipt, { parent: delivery }), async (span) => {
    const accepted = await accept(writtenBy(event, span))
    if ('outcome' in accepted) tell(span, accepted)
    else span.failed(accepted.code)
    return accepted
  })
}

/** Each of many has a trace of its own, linked to their delivery: ten thousand in one could not be read. */
export async function acceptAllTraced(
  tracing: Tracing,
  events: readonly Interpreted[],
  delivery: TraceParent | null,
  accept: (events: readonly Interpreted[]) => Promise<readonly Accepted[]>,
): Promise<readonly Accepted[]> {
  if (tracing === noTracing) return await accept(events)
  const together = Promise.withResolvers<readonly Accepted[]>()
  const from =
    events.length === 1 || delivery === null
      ? { parent: delivery }
      : { parent: null, links: [delivery] as const }
  const written: Interpreted[] = []
  const told = events.map((event, index) =>
    tracing.span(accepting(event.receipt, from), async (span) => {
      written.push(writtenBy(event, span))
      const accepted = await together.promise
      tell(span, accepted[index]!)
    }),
  )
  try {
    const accepted = await accept(written)
    together.resolve(accepted)
    return accepted
  } catch (error) {
    together.reject(error)
    throw error
  } finally {
    await Promise.allSettled(told)
  }
}

function tell(span: Span, { outcome, receipt }: Accepted): void {
  // Of a duplicate: the first.
  span.set({ 'counterfoil.outcome': outcome, 'counterfoil.receipt': receipt })
}
