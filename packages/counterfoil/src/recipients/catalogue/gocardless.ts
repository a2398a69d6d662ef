import { entry } from './entry.ts'

export const gocardless = entry({
  vendor: 'GoCardless',
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      remembersFor: 'unstated',
      otherPayload: 'unstated',
      replays: 'unstated',
    },
    outcomes: [
      {
        status: 409,
        body: { pointer: '/error/errors/0/reason', equals: 'idempotent_creation_conflict' },
        means: 'confirmed',
      },
    ],
  },
  about: {
    covers: 'creations',
    sources: [
      'https://gocardless.com/blog/idempotency-keys',
      'https://developer.gocardless.com/api-reference',
    ],
    checked: '2026-12-01',
    unconfirmed: ['that a repeat is answered 409 with this reason and the id of the first resource'],
    notSafe: [
      'For how long keys are remembered was not found: state it in remembersFor, or nothing is repeated.',
    ],
  },
})
