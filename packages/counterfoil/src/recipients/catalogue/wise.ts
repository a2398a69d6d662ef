import { entry } from './entry.ts'

export const wise = entry({
  vendor: 'Wise',
  contract: {
    idempotency: {
      pointer: '/customerTransactionId',
      format: { form: 'uuid' },
      remembersFor: 'unstated',
      otherPayload: 'unstated',
      replays: 'unstated',
    },
    correlation: { pointer: '/id' },
  },
  about: {
    covers: 'POST /v1/transfers',
    sources: ['https://docs.wise.com/guides/product/send-money/standard-api-transfers'],
    checked: '2026-12-01',
    unconfirmed: ['that a UUID of version 5 is taken'],
    notSafe: [
      'Repeats are recognised for a time that is not stated; the page asks for a sensible limit. State it in remembersFor, or nothing is repeated.',
      'Funding a transfer is a call of its own, and this key does not cover it.',
    ],
  },
})
