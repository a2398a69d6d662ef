import { entry } from './entry.ts'

export const paypal = entry({
  vendor: 'PayPal',
  contract: {
    idempotency: {
      header: 'PayPal-Request-Id',
      format: { form: 'uuid' },
      remembersFor: 'unstated',
      otherPayload: 'unstated',
      replays: 'unstated',
    },
    correlation: { pointer: '/id' },
  },
  about: {
    covers: 'POST of the REST APIs that take the header; not all do',
    sources: ['https://developer.paypal.com/reference/guidelines/idempotency'],
    checked: '2026-12-01',
    unconfirmed: ['the status of a request that meets its first one in work'],
    notSafe: [
      'How long a key is remembered differs by API and stands in the reference of each: state it in remembersFor, or nothing is repeated.',
      'A repeat gets the present state of the first request, not its first answer.',
      'An API that does not take the header runs every repeat.',
    ],
  },
})
