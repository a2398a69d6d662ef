import { entry } from './entry.ts'

export const stripeV1 = entry({
  vendor: 'Stripe API v1',
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      format: { form: 'text', maxLength: 255, prefix: 'cf_' },
      remembersFor: '24h',
      otherPayload: 'refused',
      inFlight: { status: 409 },
      replays: 'first-answer',
      marker: { header: 'Idempotent-Replayed', equals: 'true' },
    },
    // Another payload was seen under our key: who sent it, and whether ours acted before, is for a person to find out.
    outcomes: [
      { status: 400, body: { pointer: '/error/type', equals: 'idempotency_error' }, means: 'unknown' },
    ],
    correlation: { pointer: '/id' },
  },
  about: {
    covers: 'every POST of API v1',
    sources: ['https://docs.stripe.com/api/idempotent_requests'],
    checked: '2026-12-01',
    unconfirmed: [
      'the status 409 of a request that meets its first one in work',
      'the Idempotent-Replayed header',
      'the error type of another payload under the key',
    ],
    notSafe: [
      'Keys are pruned once they are at least 24 hours old, and a pruned key runs as a new request.',
      'A 500 that was stored once execution began is replayed: repeats never learn more, so such an effect needs a person or a lookup of your own by metadata.',
    ],
  },
})

export const stripeV2 = entry({
  vendor: 'Stripe API v2',
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      format: { form: 'text', maxLength: 255, prefix: 'cf_' },
      remembersFor: '30d',
      otherPayload: 'unstated',
      replays: 'first-success',
    },
    correlation: { pointer: '/id' },
  },
  about: {
    covers: 'POST and DELETE of API v2',
    sources: ['https://docs.stripe.com/api/idempotent_requests'],
    checked: '2026-12-01',
    unconfirmed: ['30 days of memory', 'what another payload and a key in work get'],
    notSafe: [
      'A repeat of failed work runs what is left of it again, so its answer may differ from the first one.',
    ],
  },
})
