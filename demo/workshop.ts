import { recipient } from 'counterfoil'
import { z } from 'zod'
import { workshopUrl } from './places.ts'

/**
 * The workshop: a small service of our own that pins cards to its board and starts jobs at its bench. Its
 * contract says what it promises; recipient.ts is the service that keeps these promises.
 */
export const workshop = recipient('workshop', {
  url: workshopUrl,
  // It runs on this machine.
  allowPrivateAddresses: true,
  // Short, so that a lost answer becomes unknown while you watch.
  timeout: '1s',
  // Asked for at each attempt: the workshop refuses a request that has been on its way for too long.
  headers: () => ({ 'request-sent-at': new Date().toISOString() }),
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      remembersFor: '24h',
      otherPayload: 'refused',
      replays: 'first-success',
    },
    lookup: {
      by: 'key',
      path: '/operations/{key}',
      after: '300ms',
      // The workshop acts on no request that was sent more than 4 s ago, so "not there" is final after 5 s.
      absence: { final: true, after: '5s' },
    },
    // Too Early, Too Late: the request was refused for its age, and nothing was done.
    outcomes: [{ status: 425, means: 'not-acted' }],
    correlation: { pointer: '/operation' },
  },
})

export const pinCard = workshop.effect('card.pin', {
  payload: z.object({ reference: z.string(), title: z.string() }),
  request: (card) => ({ method: 'POST', path: '/cards', body: card }),
})

export const startJob = workshop.effect('job.start', {
  payload: z.object({ reference: z.string(), title: z.string() }),
  request: (job) => ({ method: 'POST', path: '/jobs', body: job }),
})
