import type { Delivery } from '../delivery.ts'
import type { OwnAnswer } from '../producer-kind.ts'

/** Abuse protection: CloudEvents webhooks 1.0.2, section 4. It says who may send here and authenticates nobody. */
export interface AllowedSenders {
  /** DNS names as senders state them, or `*`. Without any there is no handshake, and OPTIONS is answered with 405. */
  readonly allowedOrigins?: readonly string[]
  /** Requests a minute that a sender is told. Default: as many as he asks for, else no limit. */
  readonly allowedRate?: number
}

export const requestOrigin = 'webhook-request-origin'

export function mayOriginSend(delivery: Delivery, { allowedOrigins }: AllowedSenders): boolean {
  const origin = delivery.header(requestOrigin)
  if (allowedOrigins === undefined) return true
  return origin !== null && (allowedOrigins.includes('*') || allowedOrigins.includes(origin.toLowerCase()))
}

/** The consent. A callback that a sender offers is never called: its address is his choice. */
export function consent(delivery: Delivery, { allowedRate }: AllowedSenders): OwnAnswer {
  const asked = delivery.header('webhook-request-rate')
  const wanted = asked !== null && /^[1-9]\d{0,8}$/.test(asked) ? Number(asked) : Number.POSITIVE_INFINITY
  const rate = Math.min(wanted, allowedRate ?? Number.POSITIVE_INFINITY)
  return {
    status: 200,
    headers: {
      'WebHook-Allowed-Origin': delivery.header(requestOrigin) ?? '',
      'WebHook-Allowed-Rate': Number.isFinite(rate) ? String(rate) : '*',
      Allow: 'POST',
    },
    body: '',
  }
}
