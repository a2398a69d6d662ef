import { entry } from './entry.ts'

export const checkoutCom = entry({
  vendor: 'Checkout.com',
  contract: {
    idempotency: {
      header: 'Cko-Idempotency-Key',
      format: { form: 'uuid' },
      remembersFor: '24h',
      otherPayload: 'unstated',
      inFlight: { status: 429 },
      replays: 'first-success',
    },
    correlation: { pointer: '/id' },
  },
  about: {
    covers:
      'payment contexts, payments, authorizations, cancellations, captures, refunds, voids and transfers',
    sources: ['https://www.checkout.com/docs/payments/manage-payments/idempotency'],
    checked: '2026-12-01',
    unconfirmed: ['what another payload under the key gets'],
    notSafe: [
      'An expired key runs as a new request. The window can be changed for an account: if yours is shorter, say so in remembersFor.',
      'Only a 2xx is remembered: a repeat after a 5xx that acted none the less may act again.',
    ],
  },
})
