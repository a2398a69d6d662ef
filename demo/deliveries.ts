import { createHmac } from 'node:crypto'
import webhooks from '@octokit/webhooks-examples' with { type: 'json' }
import { githubKey, githubTypes } from './keys.ts'

/** Signed deliveries, as their producers send them. */

export interface Delivery {
  readonly producer: 'github' | 'standard' | 'stripe'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const firstOf = (name: string, fallback: string) => process.env[name]?.split(',')[0] || fallback

export function githubDelivery(type: string, id: string, payload: unknown): Delivery {
  const body = JSON.stringify(payload)
  const secret = firstOf('GITHUB_WEBHOOK_SECRET', "It's a Secret to Everybody")
  return {
    producer: 'github',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/demo',
      'x-github-event': type,
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  }
}

export function standardDelivery(id: string, type: string, data: unknown): Delivery {
  const body = JSON.stringify({ type, timestamp: '2026-01-01T00:00:00Z', data })
  const at = Math.floor(Date.now() / 1000)
  const secret = firstOf('STANDARD_WEBHOOK_SECRET', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
  return {
    producer: 'standard',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${signature}`,
    },
    body,
  }
}

export function stripeDelivery(id: string, type: string, object: unknown): Delivery {
  const body = JSON.stringify(
    {
      id,
      object: 'event',
      api_version: '2025-06-30',
      created: 1767225600,
      type,
      data: { object },
      pending_webhooks: 1,
    },
    null,
    2,
  )
  const at = Math.floor(Date.now() / 1000)
  const secret = firstOf('STRIPE_WEBHOOK_SECRET', 'whsec_counterfoil_demo')
  const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
  return {
    producer: 'stripe',
    headers: { 'content-type': 'application/json', 'stripe-signature': `t=${at},v1=${signature}` },
    body,
  }
}

interface Examples {
  readonly name: string
  readonly examples: readonly Record<string, unknown>[]
}

/**
 * Real GitHub payloads, up to five of each type that the demo takes, with ids that are the same in every run.
 * Of examples that are about the same operation the first is taken.
 */
export function realDeliveries(): Delivery[] {
  const supported: readonly string[] = githubTypes
  const keys = new Set<string>()
  return (webhooks as unknown as readonly Examples[])
    .filter(({ name }) => supported.includes(name))
    .flatMap(({ name, examples }) =>
      examples
        .slice(0, 5)
        .filter((payload) => {
          const key = githubKey(name, payload, JSON.stringify(payload))
          return !keys.has(key) && keys.add(key)
        })
        .map((payload, index) => githubDelivery(name, `demo-${name}-${index + 1}`, payload)),
    )
}

/** A real payload of an opened issue, with another number and title. */
export function openedIssue(number: number, title: string): Record<string, unknown> {
  const issues = (webhooks as unknown as readonly Examples[]).find(({ name }) => name === 'issues')
  const example = issues?.examples.find(({ action }) => action === 'opened') ?? {}
  return { ...example, issue: { ...(example.issue as object), number, title } }
}
