import { entry } from './entry.ts'

export const ec2 = entry({
  vendor: 'Amazon EC2',
  contract: {
    idempotency: {
      pointer: '/ClientToken',
      format: { form: 'text', maxLength: 64, prefix: 'cf_' },
      remembersFor: 'unstated',
      otherPayload: 'refused',
      replays: 'first-success',
    },
  },
  about: {
    covers: 'actions with a ClientToken, such as RunInstances',
    sources: ['https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html'],
    checked: '2026-12-01',
    unconfirmed: ['how long a token is remembered, which differs by action'],
    notSafe: [
      'The period is not stated here: state that of your action in remembersFor, or nothing is repeated.',
      'The call answers before the work is done; confirmed means that EC2 has taken it on.',
      'The SDK makes a token of its own for each call that has none: always hand it ours.',
    ],
  },
})
