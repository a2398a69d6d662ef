import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { context, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { CounterfoilError, type SpanAbout, type TraceParent } from '../domain/index.ts'
import { openTelemetry } from './open-telemetry.ts'

const remote = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' as TraceParent
const about = (given: Partial<SpanAbout> = {}): SpanAbout => ({
  name: 'plan stripe',
  kind: 'consumer',
  parent: null,
  ...given,
})
const told = new InMemorySpanExporter()

function register(sampler?: ParentBasedSampler): void {
  const spanProcessors = [new SimpleSpanProcessor({ exporter: told })]
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors, ...(sampler && { sampler }) }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
}

beforeEach(() => told.reset())
afterEach(() => {
  trace.disable()
  context.disable()
  metrics.disable()
})

test('without a registered provider work runs, and nothing is kept or sent on', async () => {
  const tracing = openTelemetry()
  assert.equal(await tracing.span(about(), async (span) => span.context), null)
  assert.equal(
    await tracing.span(about({ parent: 'current', kind: 'server' }), async (span) => span.context),
    null,
  )
})

describe('with the SDK', () => {
  test('a span goes on from where it is told to, and says so to what follows', async () => {
    const tracing = openTelemetry()
    // Made before the provider is registered, as a configuration may be.
    register()
    const attributes = { 'counterfoil.outcome': 'planned' }
    await tracing.span(about({ parent: remote, attributes }), async (span) => {
      await tracing.span(
        about({ name: 'attempt pay', kind: 'internal', parent: span.context }),
        async () => {},
      )
    })
    const [attempt, plan] = told.getFinishedSpans()
    assert.deepEqual(
      [plan?.name, plan?.kind, plan?.parentSpanContext?.spanId, plan?.attributes],
      ['plan stripe', SpanKind.CONSUMER, '00f067aa0ba902b7', attributes],
    )
    assert.equal(attempt?.parentSpanContext?.spanId, plan?.spanContext().spanId)
    assert.equal(attempt?.spanContext().traceId, '4bf92f3577b34da6a3ce929d0e0e4736')
  })

  test('what is a trace of its own stays one wherever it runs, and names what it is linked to', async () => {
    register()
    const tracing = openTelemetry()
    await tracing.span(about({ name: 'POST /in/batch', kind: 'server' }), async () => {
      await tracing.span(about({ links: [remote] }), async () => {})
    })
    const [own, delivery] = told.getFinishedSpans()
    assert.equal(own?.parentSpanContext, undefined)
    assert.notEqual(own?.spanContext().traceId, delivery?.spanContext().traceId)
    assert.deepEqual(
      own?.links.map(({ context: linked }) => linked.spanId),
      ['00f067aa0ba902b7'],
    )
  })

  test('a delivery goes on from its sender, or is only linked; the program’s own span goes first', async () => {
    register()
    const arrival = about({ name: 'POST /in/stripe', kind: 'server', parent: remote })
    await openTelemetry().span(arrival, async () => {})
    await openTelemetry({ deliveries: 'link' }).span(arrival, async () => {})
    await trace.getTracer('the program').startActiveSpan('GET', async (own) => {
      await openTelemetry().span(arrival, async () => {})
      own.end()
    })
    const [continued, linked, within, own] = told.getFinishedSpans()
    assert.equal(continued?.parentSpanContext?.spanId, '00f067aa0ba902b7')
    assert.equal(linked?.parentSpanContext, undefined)
    assert.deepEqual(
      linked?.links.map(({ context: named }) => named.spanId),
      ['00f067aa0ba902b7'],
    )
    assert.equal(within?.parentSpanContext?.spanId, own?.spanContext().spanId)
  })

  test('a sender that does not record is not recorded, and what follows is told', async () => {
    register(new ParentBasedSampler({ root: new AlwaysOffSampler() }))
    const silent = remote.replace(/01$/, '00') as TraceParent
    const passedOn = await openTelemetry().span(about({ parent: silent }), async (span) => span.context)
    assert.match(passedOn ?? '', /^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-00$/)
    assert.deepEqual(told.getFinishedSpans(), [])
  })

  test('a failure is a code, never the text of the error', async () => {
    register()
    const tracing = openTelemetry()
    for (const error of [
      new CounterfoilError('commit_unknown', 'secret'),
      new TypeError('secret'),
      'secret',
    ]) {
      await assert.rejects(tracing.span(about(), () => Promise.reject(error)))
    }
    const spans = told.getFinishedSpans()
    assert.deepEqual(
      spans.map(({ attributes }) => attributes['error.type']),
      ['commit_unknown', 'TypeError', 'string'],
    )
    for (const { status, events } of spans) {
      assert.deepEqual([status, events], [{ code: SpanStatusCode.ERROR }, []])
    }
  })

  test('each kind of work has a histogram of how long it takes', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
    const tracing = openTelemetry()
    await tracing.span(about(), async () => {})
    await tracing.span(about({ name: 'POST', kind: 'client' }), async (span) => span.failed('503'))
    await reader.forceFlush()
    const [found] = exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics))
    await reader.shutdown()
    assert.deepEqual([found?.descriptor.name, found?.descriptor.unit], ['counterfoil.work.duration', 's'])
    assert.deepEqual(
      found?.dataPoints.map(({ attributes }) => attributes),
      [{ 'counterfoil.work': 'plan stripe' }, { 'counterfoil.work': 'POST', 'error.type': '503' }],
    )
  })
})
