/** Deliveries in a function of AWS Lambda: behind API Gateway (REST or HTTP API), a load balancer, or its own URL. */

import type { Counterfoil } from '../counterfoil.ts'
import { type Arrival, alreadyRead, withBody } from '../intake/index.ts'

type Values = Readonly<Record<string, string | undefined>> | null
type ManyValues = Readonly<Record<string, readonly string[] | undefined>> | null

/** A request of API Gateway's REST API or a load balancer (payload format 1.0). */
export interface EventV1 {
  readonly httpMethod: string
  readonly path: string
  readonly headers: Values
  readonly multiValueHeaders?: ManyValues
  readonly queryStringParameters?: Values
  readonly multiValueQueryStringParameters?: ManyValues
  readonly body: string | null
  readonly isBase64Encoded: boolean
}

/** A request of API Gateway's HTTP API or a function URL (payload format 2.0). */
export interface EventV2 {
  readonly version: string
  readonly rawPath: string
  readonly rawQueryString: string
  readonly headers: Values
  readonly requestContext: { readonly http: { readonly method: string } }
  readonly body?: string
  readonly isBase64Encoded: boolean
}

/** What a Lambda function answers to API Gateway or a function URL. */
export interface LambdaAnswer {
  readonly statusCode: number
  readonly headers: Record<string, string>
  readonly body: string
}

/**
 * A handler that answers deliveries at `…/in/{producer}`. It only receives: between two calls a function stands still, so
 * another process plans and attempts (`counterfoil serve` on the same PostgreSQL). The store opens with the first call.
 *
 * Let API Gateway pass bodies as they came: `*\/*` among the binary media types of a REST API.
 *
 * @example
 * export const handler = receiver(app)
 */
export function receiver(
  app: Pick<Counterfoil<any>, 'start' | 'receiveArrival'>,
): (event: EventV1 | EventV2) => Promise<LambdaAnswer> {
  let started: Promise<void> | undefined
  return async (event) => {
    started ??= app.start({ work: false }).catch((error: unknown) => {
      // The next call tries again.
      started = undefined
      throw error
    })
    await started
    const answer = await app.receiveArrival(arrivalOf(event))
    return {
      statusCode: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: await answer.text(),
    }
  }
}

function arrivalOf(event: EventV1 | EventV2): Arrival {
  const headers = headersOf(event)
  const arrival: Arrival = {
    method: 'rawPath' in event ? event.requestContext.http.method : event.httpMethod,
    url: `https://${headers.get('host') ?? 'lambda'}${pathOf(event)}`,
    scheme: 'https',
    header: (name) => headers.get(name) ?? null,
    headers: () => headers,
    // Counted and cut by whatever stands before the function.
    headersFit: () => true,
    readBody: () => Promise.reject(alreadyRead()),
  }
  const body: unknown = event.body ?? ''
  // A middleware that parses leaves a value here.
  if (typeof body !== 'string') return arrival
  return withBody(arrival, Buffer.from(body, event.isBase64Encoded ? 'base64' : 'utf8'))
}

function headersOf(event: EventV1 | EventV2): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  for (const [name, value] of Object.entries(event.headers ?? {}))
    if (value !== undefined) headers.set(name.toLowerCase(), value)
  if ('rawPath' in event) return headers
  for (const [name, values] of Object.entries(event.multiValueHeaders ?? {}))
    if (values !== undefined) headers.set(name.toLowerCase(), values.join(', '))
  return headers
}

/** Of payload format 1.0 the query comes decoded, and is encoded again: a kind that signs the URL wants format 2.0. */
function pathOf(event: EventV1 | EventV2): string {
  if ('rawPath' in event)
    return event.rawQueryString === '' ? event.rawPath : `${event.rawPath}?${event.rawQueryString}`
  const many = event.multiValueQueryStringParameters ?? {}
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(event.queryStringParameters ?? {}))
    for (const one of many[name] ?? [value ?? '']) query.append(name, one)
  for (const [name, values] of Object.entries(many))
    if (!query.has(name)) for (const one of values ?? []) query.append(name, one)
  return query.size === 0 ? event.path : `${event.path}?${query}`
}
