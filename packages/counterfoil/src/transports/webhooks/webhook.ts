import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonValue } from '../../domain/index.ts'
import { readCloudEvent } from '../../intake/index.ts'
import type { EffectRequest } from '../../recipients/index.ts'

/** What a customer is told (Standard Webhooks, payload structure). The same for each endpoint and every attempt. */
export interface Webhook {
  /** Hierarchical, such as `invoice.paid`. */
  readonly type: string
  /** When it happened, as RFC 3339: not when it is sent. */
  readonly timestamp: string
  readonly data: JsonValue
}

/** `standard`: type, timestamp and data. Or a CloudEvent in structured mode with this `source`. */
export type WebhookBody = 'standard' | { readonly cloudEvents: { readonly source: string } }

/** The payload of an effect, with what a CloudEvent needs beside. */
export type WebhookPayload = Webhook & { readonly id: string }

/** Checked at planning: what no receiver could read is not sent for three days. */
export const webhookSchema: StandardSchemaV1<unknown, WebhookPayload> = {
  '~standard': {
    version: 1,
    vendor: 'counterfoil',
    validate(value) {
      const { id, type, timestamp, data } = (value ?? {}) as Partial<WebhookPayload>
      const issues = [
        ...(typeof type === 'string' && /^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$/.test(type)
          ? []
          : [{ message: 'is no type such as invoice.paid', path: ['type'] }]),
        ...(typeof timestamp === 'string' && isRfc3339(timestamp)
          ? []
          : [{ message: 'is no time such as 2026-01-31T12:00:00Z', path: ['timestamp'] }]),
        ...(data === undefined ? [{ message: 'is missing', path: ['data'] }] : []),
        ...(typeof id === 'string' && id !== '' ? [] : [{ message: 'is missing', path: ['id'] }]),
      ]
      return issues.length > 0 ? { issues } : { value: { id, type, timestamp, data } as WebhookPayload }
    },
  },
}

/** Serialised once, at planning; members in the order of the specification. */
export function requestOf(body: WebhookBody, { id, type, timestamp, data }: WebhookPayload): EffectRequest {
  if (body === 'standard') return { method: 'POST', path: '', body: { type, timestamp, data } }
  const { source } = body.cloudEvents
  return {
    method: 'POST',
    path: '',
    headers: { 'content-type': 'application/cloudevents+json' },
    body: {
      specversion: '1.0',
      id,
      source,
      type,
      time: timestamp,
      datacontenttype: 'application/json',
      data,
    },
  }
}

/** What is wrong with the body that was chosen; undefined when nothing is. */
export function faultOf(body: WebhookBody): string | undefined {
  if (body === 'standard') return undefined
  const reading = readCloudEvent({
    specversion: '1.0',
    id: 'any',
    type: 'any',
    source: body.cloudEvents.source,
  })
  return reading.kind === 'wrong' ? reading.why : undefined
}

function isRfc3339(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  )
}
