export { type CloudEventsOptions, cloudEvents } from '../cloudevents/index.ts'
export { type AdyenOptions, adyen } from './adyen.ts'
export { type AwsSnsOptions, awsSns } from './aws-sns.ts'
export { type AzureEventGridOptions, azureEventGrid } from './azure-event-grid.ts'
export { type AzureServiceBusOptions, azureServiceBus } from './azure-service-bus.ts'
export {
  type CredentialAuthentication,
  type CustomOptions,
  custom,
  type HmacAuthentication,
} from './custom.ts'
export { type DiscordOptions, discord } from './discord.ts'
export { type DocusignOptions, docusign } from './docusign.ts'
export { type GitHubOptions, github } from './github.ts'
export { type GitLabOptions, gitlab } from './gitlab.ts'
export { type GoCardlessOptions, gocardless } from './gocardless.ts'
export { type GooglePubSubOptions, googlePubSub } from './google-pubsub.ts'
export {
  type HttpSignatureKey,
  type HttpSignaturesOptions,
  httpSignatures,
} from './http-signatures.ts'
export { type HubSpotOptions, hubspot } from './hubspot.ts'
export { type IntercomOptions, intercom } from './intercom.ts'
export { type LinearOptions, linear } from './linear.ts'
export { type MailgunOptions, mailgun } from './mailgun.ts'
export { type MetaOptions, meta } from './meta.ts'
export { type PaddleOptions, paddle } from './paddle.ts'
export { type PayPalOptions, paypal } from './paypal.ts'
export { type PlaidOptions, plaid } from './plaid.ts'
export { type PostmarkOptions, postmark } from './postmark.ts'
export { type SendGridOptions, sendgrid } from './sendgrid.ts'
export { type ShopifyOptions, shopify } from './shopify.ts'
export { type SlackOptions, slack } from './slack.ts'
export { type SquareOptions, square } from './square.ts'
export { type StandardWebhooksOptions, standardWebhooks } from './standard-webhooks.ts'
export { type StripeOptions, stripe } from './stripe.ts'
export { svix } from './svix.ts'
export { type TwilioOptions, twilio } from './twilio.ts'
export { type ZoomOptions, zoom } from './zoom.ts'
