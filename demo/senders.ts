import { sign } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import { secrets } from './secrets.ts'

/** One HTTP request of a producer, signed by the library that the producer itself publishes. */
export interface Delivery {
  readonly producer: 'github' | 'standard' | 'stripe'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export async function gitHubDelivery(type: string, id: string, payload: unknown): Promise<Delivery> {
  const body = JSON.stringify(payload)
  return {
    producer: 'github',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/demo',
      'x-github-event': type,
      'x-github-delivery': id,
      'x-hub-signature-256': await sign(secrets.github[0], body),
    },
    body,
  }
}

export function standardDelivery(id: string, type: string, data: unknown): Delivery {
  const at = new Date()
  const body = JSON.stringify({ type, timestamp: at.toISOString(), data })
  return {
    producer: 'standard',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secrets.standard[0]).sign(id, at, body),
    },
    body,
  }
}

export function stripeDelivery(id: string, type: string, object: unknown): Delivery {
  const created = Math.floor(Date.now() / 1000)
  const body = JSON.stringify({
    id,
    object: 'event',
    api_version: '2025-06-30.basil',
    created,
    type,
    data: { object },
    livemode: false,
    pending_webhooks: 1,
  })
  const signature = Stripe.webhooks.generateTestHeaderString({ payload: body, secret: secrets.stripe[0] })
  return {
    producer: 'stripe',
    headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    body,
  }
}

/** What the server said. `outcome` stands in every acknowledgement, `code` in every refusal. */
export interface Answer {
  readonly status: number
  readonly outcome?: string
  readonly receipt?: string
  readonly reason?: string
  readonly sameContentAs?: string
  readonly code?: string
}

/** @throws Error when nobody answers */
export async function send(server: string, { producer, headers, body }: Delivery): Promise<Answer> {
  const response = await fetch(`${server}/in/${producer}`, { method: 'POST', headers, body }).catch(
    (error: Error) => {
      throw new Error(`The server did not answer a delivery: ${String(error.cause ?? error.message)}`)
    },
  )
  return { ...((await response.json()) as object), status: response.status }
}
