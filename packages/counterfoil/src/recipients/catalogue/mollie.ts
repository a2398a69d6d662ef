import { entry } from './entry.ts'

export const mollie = entry({
  vendor: 'Mollie',
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      remembersFor: 'unstated',
      otherPayload: 'unstated',
      replays: 'unstated',
    },
    correlation: { pointer: '/id' },
  },
  about: {
    covers: 'POST, above all recurring payments, refunds and captures',
    sources: ['https://docs.mollie.com/reference/api-idempotency'],
    checked: '2026-12-01',
    unconfirmed: ['what another payload, and a key in work, get'],
    notSafe: [
      'The period for which keys are remembered was not found: state it in remembersFor, or nothing is repeated.',
    ],
  },
})
