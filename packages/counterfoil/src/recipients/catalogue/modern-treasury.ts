import { entry } from './entry.ts'

export const modernTreasury = entry({
  vendor: 'Modern Treasury',
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      remembersFor: '24h',
      otherPayload: 'first-answer',
      inFlight: { status: 409 },
      replays: 'first-success',
    },
    correlation: { pointer: '/id' },
  },
  about: {
    covers: 'every POST',
    sources: ['https://docs.moderntreasury.com/reference/idempotent-requests'],
    checked: '2026-12-01',
    unconfirmed: ['the longest key that is taken'],
    notSafe: [
      'Keys are scoped to the API key: a repeat after the API key was changed runs again.',
      'Another payload, even to another route, gets the first answer as if it were its own.',
    ],
  },
})
