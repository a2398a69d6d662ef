import {
  type Attributes,
  type Context,
  context,
  type Histogram,
  type Link,
  metrics,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { codeOf, type Span, type SpanAbout, type TraceParent, type Tracing } from '../domain/index.ts'

export interface OpenTelemetryOptions {
  /**
   * Of the `traceparent` that a delivery came with: `continue` goes on from it; `link` begins a trace and names it, for
   * senders who shall not choose what is recorded here. Default `continue`.
   */
  readonly deliveries?: 'continue' | 'link'
}

const scope = 'counterfoil'

/**
 * Spans, and how long each kind of work takes, through the API of OpenTelemetry: to whatever SDK the program has
 * registered, and to nobody without one. Work runs in its span, so that what other instrumentation sees there belongs
 * to it.
 */
export function openTelemetry({ deliveries = 'continue' }: OpenTelemetryOptions = {}): Tracing {
  // Asks for the provider at each span: one that is registered later is used from then on.
  const tracer = trace.getTracer(scope)
  let durations: Histogram | undefined
  return {
    async span(about, work) {
      const { from, links } = originOf(about, deliveries)
      const options = {
        kind: kinds[about.kind],
        links,
        ...(about.attributes === undefined ? {} : { attributes: { ...about.attributes } as Attributes }),
      }
      const span = tracer.startSpan(about.name, options, from)
      const begun = performance.now()
      let errorType: string | undefined
      const failed = (type: string) => {
        errorType = type
        span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })
      }
      const seen: Span = {
        context: write(span.spanContext()),
        set: (attributes) => void span.setAttributes(attributes),
        failed,
      }
      try {
        return await context.with(trace.setSpan(from, span), () => work(seen))
      } catch (error) {
        // Its message may quote what was sent.
        failed(codeOf(error) ?? (error instanceof Error ? error.name : typeof error))
        throw error
      } finally {
        span.end()
        durations ??= metrics.getMeter(scope).createHistogram('counterfoil.work.duration', durationOptions)
        durations.record((performance.now() - begun) / 1000, {
          'counterfoil.work': about.name,
          ...(errorType === undefined ? {} : { 'error.type': errorType }),
        })
      }
    },
  }
}

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const

/** The boundaries of OpenTelemetry's conventions for durations of HTTP and messaging. */
const durationOptions = {
  unit: 's',
  description: 'How long each kind of work takes, by the name of its span.',
  advice: {
    explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  },
}

function originOf(
  { kind, parent, links = [] }: SpanAbout,
  deliveries: 'continue' | 'link',
): { readonly from: Context; readonly links: Link[] } {
  const named = links.map((link) => ({ context: read(link) }))
  if (parent === 'current') return { from: context.active(), links: named }
  if (parent === null) return { from: ROOT_CONTEXT, links: named }
  const remote = read(parent)
  if (kind === 'server') {
    // The program's own instrumentation of the same request has read the header already.
    if (trace.getSpan(context.active()) !== undefined) return { from: context.active(), links: named }
    if (deliveries === 'link') return { from: ROOT_CONTEXT, links: [...named, { context: remote }] }
  }
  return { from: trace.setSpanContext(ROOT_CONTEXT, remote), links: named }
}

function read(parent: TraceParent): SpanContext {
  const [, traceId = '', spanId = '', flags = '0'] = parent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

function write(span: SpanContext): TraceParent | null {
  if (!trace.isSpanContextValid(span)) return null
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, '0')
  return `00-${span.traceId}-${span.spanId}-${flags}` as TraceParent
}
