export { type GitHubOptions, github } from './github.ts'
export { type StandardWebhooksOptions, standardWebhooks } from './standard-webhooks.ts'
export { type StripeOptions, stripe } from './stripe.ts'
