import { noTracing, type SpanAttributes, type TraceParent, type Tracing } from '../domain/index.ts'
import type { Network, NetworkRequest } from './network.ts'
import type { Recipient } from './recipient.ts'

export interface Journey {
  /** The attempt or the question that it is sent for. */
  readonly parent: TraceParent | null
  readonly recipient: Recipient
  /** Requests that went out for the same before. */
  readonly resent: number
}

/**
 * The network as one attempt or question uses it: each request is a span, by OpenTelemetry's conventions for HTTP
 * clients, and carries `traceparent` unless the contract forbids it. Path and query are left out of the span: they
 * may hold what an effect is about. The header is no part of the effect's bytes, which are stored key and body.
 */
export function tracedNetwork(
  network: Pick<Network, 'send'>,
  tracing: Tracing,
  { parent, recipient, resent }: Journey,
): Pick<Network, 'send'> {
  if (tracing === noTracing) return network
  return {
    send: (request, signal) => {
      const about = {
        name: request.method,
        kind: 'client',
        parent,
        attributes: asked(request, resent),
      } as const
      return tracing.span(about, async (span) => {
        const carried = span.context !== null && recipient.contract.traceparent !== false
        // What the effect itself sends under this name stays.
        const headers = carried ? { traceparent: span.context, ...request.headers } : request.headers
        const exchange = await network.send({ ...request, headers }, signal)
        if (exchange.kind === 'answered') span.set({ 'http.response.status_code': exchange.status })
        if (exchange.kind !== 'answered') span.failed(exchange.kind === 'notSent' ? 'not_sent' : 'unclear')
        else if (exchange.status >= 400) span.failed(String(exchange.status))
        return exchange
      })
    },
  }
}

function asked({ url, method }: NetworkRequest, resent: number): SpanAttributes {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  return {
    'http.request.method': method,
    'server.address': url.hostname,
    'server.port': port,
    'url.scheme': url.protocol.slice(0, -1),
    ...(resent === 0 ? {} : { 'http.request.resend_count': resent }),
  }
}
