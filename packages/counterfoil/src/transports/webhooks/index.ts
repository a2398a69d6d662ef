/** Signed webhooks to endpoints that others give: `counterfoil/webhooks`. */

export type { Endpoint, WebhooksOptions } from './endpoint.ts'
export { type EndpointHealth, healthy } from './health.ts'
export type { Webhook, WebhookBody } from './webhook.ts'
export { type WebhookPlan, type Webhooks, webhooks } from './webhooks.ts'
