import { entry } from './entry.ts'

export const quickbooks = entry({
  vendor: 'QuickBooks Online',
  contract: {
    idempotency: {
      query: 'requestid',
      format: { form: 'uuid' },
      remembersFor: 'unstated',
      otherPayload: 'unstated',
      replays: 'unstated',
    },
  },
  about: {
    covers: 'creations and updates of the Accounting API',
    sources: ['https://developer.intuit.com/app/developer/qbo/docs/learn/rest-api-features'],
    checked: '2026-12-01',
    unconfirmed: ['everything: the page could not be read'],
    notSafe: [
      'The period for which a requestid is remembered is not confirmed: state it in remembersFor, or nothing is repeated.',
      'SyncToken guards updates against older ones, and is a member of your own request.',
    ],
  },
})
