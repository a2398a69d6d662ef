import type { Contract, Duration } from '../../domain/index.ts'

/**
 * What every receiver of Standard Webhooks promises, as data. It drops a `webhook-id` that it has seen, for the stated
 * time: so what is unknown is sent again with the same id. A whole answer other than 2xx says that it did not take the
 * message; where something in between may have answered (502, 503, 504), or it may have met its first copy in work
 * (409), or gave up waiting for us (408), it stays unknown.
 */
export function webhookContract(deduplicatesFor: Duration) {
  return {
    idempotency: {
      header: 'webhook-id',
      format: { form: 'text', maxLength: 47, prefix: 'msg_' },
      scope: 'endpoint',
      remembersFor: deduplicatesFor,
      otherPayload: 'unstated',
      replays: 'unstated',
    },
    outcomes: [
      ...([408, 409, 502, 503, 504] as const).map((status) => ({ status, means: 'unknown' }) as const),
      ...(['3xx', '4xx', '5xx'] as const).map((status) => ({ status, means: 'not-acted' }) as const),
    ],
  } as const satisfies Contract
}
