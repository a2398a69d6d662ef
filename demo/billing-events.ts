import { z } from 'zod'
import { type KeyPart, semanticKey } from './effect-key.ts'
import type { Card } from './github-events.ts'

const number = z.union([z.number(), z.string()]).nullish()

/** The thing that a Standard Webhooks or Stripe event is about: an invoice, an order, a customer. */
export const BillingObject = z.object({
  id: number,
  updated_at: number,
  amount: number,
  amount_paid: number,
  amount_received: number,
  amount_refunded: number,
  amount_total: number,
  total: number,
  currency: z.string().nullish(),
})
export type BillingObject = z.infer<typeof BillingObject>

/** `paid` types start a job at the bench; the others pin a card. */
export const billingTypes = {
  standard: {
    paid: ['invoice.paid', 'order.paid', 'payment.succeeded'],
    other: [
      'invoice.created',
      'order.created',
      'user.created',
      'user.updated',
      'contact.created',
      'contact.updated',
    ],
  },
  stripe: {
    paid: [
      'invoice.paid',
      'invoice.payment_succeeded',
      'payment_intent.succeeded',
      'charge.succeeded',
      'checkout.session.completed',
    ],
    other: [
      'charge.refunded',
      'customer.created',
      'customer.subscription.created',
      'customer.subscription.updated',
      'customer.subscription.deleted',
    ],
  },
} as const

/** @param fingerprint of the whole payload */
export function billingCardOf(
  event: { readonly producer: string; readonly type: string; readonly fingerprint: string },
  data: BillingObject,
): Card {
  const { producer, type, fingerprint } = event
  const at = type.lastIndexOf('.')
  const [subject, happened] = [type.slice(0, at), type.slice(at + 1)]
  const parts = [producer, subject, data.id, happened, ...revision(type, data)]
  return { reference: semanticKey(parts, fingerprint), title: titleOf(type, data) }
}

/** An update can come again with other content, a refund with a higher sum; everything else happens once. */
function revision(type: string, data: BillingObject): readonly KeyPart[] {
  if (type.endsWith('.updated')) return [data.updated_at]
  if (type === 'charge.refunded') return [data.amount_refunded]
  return []
}

export function amountOf(data: BillingObject): string | null {
  const amount =
    data.amount_paid ?? data.amount_received ?? data.amount_total ?? data.total ?? data.amount ?? null
  return amount === null ? null : String(amount)
}

function titleOf(type: string, data: BillingObject): string {
  const amount = amountOf(data)
  const sum = amount === null ? '' : `: ${amount} ${data.currency ?? ''}`.trimEnd()
  return `${type} ${data.id ?? ''}`.trimEnd().slice(0, 150).toWellFormed() + sum.slice(0, 50).toWellFormed()
}
