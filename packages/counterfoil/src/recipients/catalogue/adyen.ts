import { entry } from './entry.ts'

export const adyen = entry({
  vendor: 'Adyen',
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      format: { form: 'text', maxLength: 64, prefix: 'cf_' },
      remembersFor: '7d',
      otherPayload: 'unstated',
      inFlight: { status: 422, body: { pointer: '/errorCode', equals: '704' } },
      replays: 'unstated',
    },
    correlation: { pointer: '/pspReference' },
  },
  about: {
    covers: 'POST of the Checkout, Payouts and Management APIs',
    sources: ['https://docs.adyen.com/development-resources/api-idempotency'],
    checked: '2026-12-01',
    unconfirmed: [
      'how long keys are remembered now: copies of the page say at least 31 days, and 7 days are used here',
      'error 704 of a request that meets its first one in work',
      'what another payload under a key gets',
    ],
    notSafe: [
      'Keys are unique within a company account and one region: the same request to an endpoint of another region runs again.',
      'Most modifications are only received when they are answered; their end comes by webhook.',
    ],
  },
})
