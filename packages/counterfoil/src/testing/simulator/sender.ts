import { createHmac } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { secrets } from './fleet-config.ts'
import type { PlannedDelivery } from './history.ts'

/** The delivery as a request of Node's HTTP server, without one. @param now the sender's clock, in milliseconds */
export function requestOf(delivery: PlannedDelivery, now: number): IncomingMessage {
  const { producer, body } = delivery
  const headers = producer === 'std' ? standard(delivery, now) : hub(delivery)
  return new ArrivingRequest(`/in/${producer}`, headers, Buffer.from(body)) as unknown as IncomingMessage
}

function standard({ id, body, variant }: PlannedDelivery, now: number): Record<string, string> {
  const at = Math.floor(now / 1000) - (variant === 'stale' ? 100_000 : 0)
  const key = variant === 'forged' ? 'somebody else' : secrets.std
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${signature}`,
  }
}

/** Signs its body and no time; so nothing of it is ever stale, and what is forged has another key. */
function hub({ id, type, body, variant }: PlannedDelivery): Record<string, string> {
  const key = variant === 'forged' || variant === 'stale' ? 'somebody else' : secrets.hub
  return {
    'content-type': 'application/json',
    'x-github-delivery': id,
    'x-github-event': type,
    'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
  }
}

class ArrivingRequest extends EventEmitter {
  readonly method = 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly rawHeaders: readonly string[] = []
  readonly socket = {}
  readonly destroyed = false
  readonly readableDidRead = false

  constructor(url: string, headers: Readonly<Record<string, string>>, body: Buffer) {
    super()
    this.url = url
    this.headers = headers
    this.once('newListener', (event) => {
      if (event !== 'data') return
      queueMicrotask(() => {
        this.emit('data', body)
        this.emit('end')
      })
    })
  }

  pause(): void {}
}
