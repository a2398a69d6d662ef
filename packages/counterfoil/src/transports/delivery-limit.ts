import type { TakeMessage } from './consumer.ts'

/**
 * Puts a message aside that was handed over more often than this, without another try: what ends our process each time
 * would else come again for ever. Every hand-over counts, also those while the store was away, so the limit is to be high.
 */
export function withDeliveryLimit(take: TakeMessage, most: number | undefined): TakeMessage {
  if (most === undefined) return take
  return async (message) =>
    message.deliveries > most
      ? { kind: 'reject', code: 'delivered_too_often', why: `it was handed over more than ${most} times` }
      : await take(message)
}
