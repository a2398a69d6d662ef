import { entry } from './entry.ts'

export const snsFifo = entry({
  vendor: 'Amazon SNS FIFO',
  contract: {
    idempotency: {
      pointer: '/MessageDeduplicationId',
      format: { form: 'text', maxLength: 128, prefix: 'cf_' },
      scope: 'resource',
      remembersFor: '5m',
      otherPayload: 'first-answer',
      replays: 'first-success',
    },
    correlation: { pointer: '/MessageId' },
  },
  about: {
    covers: 'sending to a FIFO topic with an explicit deduplication id',
    sources: [
      'https://docs.aws.amazon.com/sdk-for-kotlin/api/latest/sns/aws.sdk.kotlin.services.sns.model/-publish-request/message-deduplication-id.html',
    ],
    checked: '2026-12-01',
    unconfirmed: ['what a message that meets its first one in work gets'],
    notSafe: [
      'After five minutes the same id is delivered again: an outage longer than that ends with a person.',
      'Bodies are not compared: another body under the id is accepted and dropped.',
    ],
  },
})
