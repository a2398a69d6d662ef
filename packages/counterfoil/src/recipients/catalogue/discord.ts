import { entry } from './entry.ts'

export const discord = entry({
  vendor: 'Discord',
  contract: {
    idempotency: {
      pointer: '/nonce',
      format: { form: 'text', maxLength: 25 },
      scope: 'account',
      remembersFor: 'unstated',
      otherPayload: 'first-answer',
      replays: 'first-success',
    },
    outcomes: [{ status: 429, means: 'not-acted' }],
    correlation: { pointer: '/id' },
    waits: [{ pointer: '/retry_after', as: 'seconds' }],
  },
  about: {
    covers: 'Create Message with enforce_nonce: true in the body',
    sources: ['https://pub.dev/documentation/nyxx/latest/nyxx/MessageBuilder/enforceNonce.html'],
    checked: '2026-12-01',
    unconfirmed: [
      'that another text under the nonce gets the first message',
      'retry_after in the body of a 429',
    ],
    notSafe: [
      'The nonce is checked for the past few minutes, which is no number: state one in remembersFor, or nothing is repeated.',
      'Without enforce_nonce every repeat posts again.',
    ],
  },
})
