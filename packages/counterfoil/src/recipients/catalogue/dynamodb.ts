import { entry } from './entry.ts'

export const dynamodb = entry({
  vendor: 'Amazon DynamoDB transactions',
  contract: {
    idempotency: {
      pointer: '/ClientRequestToken',
      format: { form: 'uuid' },
      remembersFor: '10m',
      otherPayload: 'refused',
      inFlight: {
        status: 400,
        body: {
          pointer: '/__type',
          equals: 'com.amazonaws.dynamodb.v20120810#TransactionInProgressException',
        },
      },
      replays: 'first-success',
    },
    outcomes: [
      {
        status: 400,
        body: {
          pointer: '/__type',
          equals: 'com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException',
        },
        means: 'unknown',
      },
    ],
  },
  about: {
    covers: 'TransactWriteItems',
    sources: [
      'https://docs.aws.amazon.com/sdk-for-kotlin/api/latest/dynamodb/aws.sdk.kotlin.services.dynamodb.model/-transact-write-items-request/client-request-token.html',
    ],
    checked: '2026-12-01',
    unconfirmed: ['the exact type of the two errors on the wire', 'that a key holds 36 characters at most'],
    notSafe: [
      'Ten minutes after the first request was done the token runs again.',
      'Other writes have no token: use a condition, such as attribute_not_exists on a marker item of the effect.',
    ],
  },
})
