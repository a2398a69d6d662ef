import { entry } from './entry.ts'

export const xero = entry({
  vendor: 'Xero',
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      format: { form: 'text', maxLength: 128, prefix: 'cf_' },
      remembersFor: 'unstated',
      otherPayload: 'unstated',
      replays: 'unstated',
    },
  },
  about: {
    covers: 'POST, PUT and PATCH of the Accounting API',
    sources: ['https://developer.xero.com/documentation/guides/idempotent-requests/idempotency/'],
    checked: '2026-12-01',
    unconfirmed: ['everything: the page could not be read; header and 128 characters are from the SDK'],
    notSafe: [
      'The period for which keys are remembered is not confirmed: state it in remembersFor, or nothing is repeated.',
    ],
  },
})
