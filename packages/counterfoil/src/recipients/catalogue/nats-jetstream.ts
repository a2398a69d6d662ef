import { entry } from './entry.ts'

export const natsJetStream = entry({
  vendor: 'NATS JetStream',
  contract: {
    idempotency: {
      header: 'Nats-Msg-Id',
      scope: 'resource',
      remembersFor: 'unstated',
      otherPayload: 'first-answer',
      replays: 'first-success',
      marker: { pointer: '/duplicate', equals: true },
    },
    correlation: { pointer: '/seq' },
  },
  about: {
    covers: 'publishing to a stream, and waiting for its acknowledgement',
    sources: ['https://github.com/nats-io/nats-server/issues/2242'],
    checked: '2026-12-01',
    unconfirmed: ['the default window of a stream, said to be two minutes'],
    notSafe: [
      'The duplicate window is a setting of your stream: state it in remembersFor, or nothing is repeated.',
      'Payloads are not compared.',
    ],
  },
})
