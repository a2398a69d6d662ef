import { entry } from './entry.ts'

export const azureServiceBus = entry({
  vendor: 'Azure Service Bus',
  contract: {
    idempotency: {
      pointer: '/messageId',
      format: { form: 'text', maxLength: 128, prefix: 'cf_' },
      scope: 'resource',
      remembersFor: 'unstated',
      otherPayload: 'first-answer',
      replays: 'first-success',
    },
  },
  about: {
    covers: 'sending to a queue or topic with duplicate detection',
    sources: [
      'https://learn.microsoft.com/en-us/dotnet/api/azure.messaging.servicebus.administration.queueproperties.duplicatedetectionhistorytimewindow',
    ],
    checked: '2026-12-01',
    unconfirmed: [
      'the default window: most pages say 10 minutes, one says 1 minute',
      'that a messageId holds 128 characters',
    ],
    notSafe: [
      'The window is a setting of your queue, 20 seconds to 7 days: state it in remembersFor, or nothing is repeated.',
      'A queue without duplicate detection takes every repeat. Bodies are not compared.',
    ],
  },
})
