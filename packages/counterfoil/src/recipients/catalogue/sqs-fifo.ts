import { entry } from './entry.ts'

export const sqsFifo = entry({
  vendor: 'Amazon SQS FIFO',
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
    covers: 'sending to a FIFO queue with an explicit deduplication id',
    sources: [
      'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-key-terms.html',
    ],
    checked: '2026-12-01',
    unconfirmed: ['what a message that meets its first one in work gets'],
    notSafe: [
      'After five minutes the same id is delivered again: an outage longer than that ends with a person.',
      'Bodies are not compared: another body under the id is accepted and dropped.',
    ],
  },
})
