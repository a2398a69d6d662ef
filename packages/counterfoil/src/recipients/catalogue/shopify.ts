import { entry } from './entry.ts'

export const shopify = entry({
  vendor: 'Shopify GraphQL Admin API',
  contract: {
    idempotency: {
      pointer: '/variables/idempotencyKey',
      format: { form: 'uuid' },
      remembersFor: 'unstated',
      otherPayload: 'unstated',
      replays: 'first-success',
    },
  },
  about: {
    covers: 'mutations with the directive @idempotent(key: $idempotencyKey), such as refundCreate',
    sources: [
      'https://shopify.dev/docs/api/usage/idempotent-requests',
      'https://shopify.dev/docs/api/usage/implementing-idempotency',
    ],
    checked: '2026-12-01',
    unconfirmed: ['the window for which keys are remembered, which the second page states'],
    notSafe: [
      'Keys are remembered for a window that was not found: state it in remembersFor, or nothing is repeated.',
      'GraphQL answers 200 with errors or userErrors in the body: without outcome rules for your mutation such an answer would confirm. Add them, or use call with classify.',
      'A mutation without the directive runs every repeat.',
    ],
  },
})
