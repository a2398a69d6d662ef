import type { TraceParent } from './ids.ts'

/** Few and bounded: names of the configuration, ids, states, codes. Never a payload, a header value or a secret. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface SpanAbout {
  /** A verb and a name of the configuration, so that there are few. */
  readonly name: string
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal'
  /**
   * What it goes on from, in this process or another; `current` is the span that the program is in, if it is in one.
   * Null: a trace of its own.
   */
  readonly parent: TraceParent | 'current' | null
  /** What else caused it. */
  readonly links?: readonly TraceParent[]
  readonly attributes?: SpanAttributes
}

export interface Span {
  /** What goes on from it names this. Null: nothing is traced. */
  readonly context: TraceParent | null
  set(attributes: SpanAttributes): void
  /** It failed: a stable code or a kind of error, no text. */
  failed(type: string): void
}

/** Where spans go. */
export interface Tracing {
  /** Runs `work` as a span, which ends with it; a rejection passes on and marks the span failed. */
  span<Result>(about: SpanAbout, work: (span: Span) => Promise<Result>): Promise<Result>
}

const untraced: Span = { context: null, set() {}, failed() {} }

/** Costs a call. */
export const noTracing: Tracing = { span: (_about, work) => work(untraced) }

const traceParent = /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * The `traceparent` of a request, as version 00; null when there is none or it is not one. A later version is read
 * by what this one knows of it (https://www.w3.org/TR/trace-context/#versioning-of-traceparent).
 */
export function readTraceParent(header: string | null): TraceParent | null {
  const [, version, trace, span, flags, more] = traceParent.exec(header ?? '') ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null
  return `00-${trace}-${span}-${flags}` as TraceParent
}
