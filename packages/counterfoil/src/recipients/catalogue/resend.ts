import { entry } from './entry.ts'

export const resend = entry({
  vendor: 'Resend',
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      format: { form: 'text', maxLength: 256, prefix: 'cf_' },
      remembersFor: '24h',
      otherPayload: 'refused',
      inFlight: { status: 409, body: { pointer: '/name', equals: 'concurrent_idempotent_requests' } },
      replays: 'first-success',
    },
    outcomes: [
      { status: 409, body: { pointer: '/name', equals: 'invalid_idempotent_request' }, means: 'unknown' },
    ],
    correlation: { pointer: '/id' },
  },
  about: {
    covers: 'POST /emails and POST /emails/batch',
    sources: ['https://resend.com/docs/dashboard/emails/idempotency-keys'],
    checked: '2026-12-01',
    unconfirmed: ['the names of the two 409 errors', 'what is replayed after a failure'],
    notSafe: ['After 24 hours a key sends again.', 'Accepted is not delivered: bounces come by webhook.'],
  },
})
