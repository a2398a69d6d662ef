import { entry } from './entry.ts'

export const increase = entry({
  vendor: 'Increase',
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      format: { form: 'text', maxLength: 200, prefix: 'cf_' },
      remembersFor: 'unstated',
      otherPayload: 'refused',
      replays: 'first-success',
      marker: { header: 'Idempotent-Replayed', equals: 'true' },
    },
    outcomes: [
      {
        status: 409,
        body: { pointer: '/type', equals: 'idempotency_key_already_used_error' },
        means: 'unknown',
      },
    ],
    correlation: { pointer: '/id' },
  },
  about: {
    covers: 'every POST that creates an object',
    sources: ['https://increase.com/documentation/idempotency-keys'],
    checked: '2026-12-01',
    unconfirmed: ['whether keys ever expire: the page promises one object for a key and names no period'],
    notSafe: [
      'No period of memory is stated: if you were told that keys never expire, write forever in remembersFor.',
      'An object can be found by its key with the idempotency_key filter of the lists: give a lookup function for that.',
    ],
  },
})
