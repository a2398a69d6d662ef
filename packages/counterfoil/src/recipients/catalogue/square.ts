import { entry } from './entry.ts'

export const square = entry({
  vendor: 'Square',
  contract: {
    idempotency: {
      pointer: '/idempotency_key',
      format: { form: 'uuid' },
      remembersFor: 'unstated',
      otherPayload: 'refused',
      replays: 'first-success',
    },
  },
  about: {
    covers: 'calls whose body takes an idempotency_key, such as CreatePayment',
    sources: [
      'https://developer.squareup.com/docs/build-basics/common-api-patterns/idempotency',
      'https://developer.squareup.com/forums/t/question-about-idempotency-key-on-payments/28309',
    ],
    checked: '2026-12-01',
    unconfirmed: ['that other payloads are refused by every API: the page says that it may vary'],
    notSafe: [
      'Square publishes no period for which keys are remembered: state one in remembersFor that you were told, or nothing is repeated.',
    ],
  },
})
