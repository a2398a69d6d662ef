import { createHmac, randomBytes } from 'node:crypto'

/** Processes of one bench share it by their environment. */
export const key = process.env.BENCH_KEY ?? randomBytes(32).toString('base64')
/** The secret of the bench's Standard Webhooks producer. */
export const secret = `whsec_${key}`

/** A signed Standard Webhooks request of about 1 kB; `index` makes its identity. */
export function delivery(run: string, index: number, type?: string): Request {
  const data = {
    id: `${run}-${index}`,
    customer: `cus_${index % 977}`,
    amount: index,
    currency: 'eur',
    lines,
  }
  return signed(`msg_${run}_${index}`, data, type)
}

/** A signed Standard Webhooks request of the bench's producer. */
export function signed(id: string, data: unknown, type = 'invoice.paid'): Request {
  const at = Math.floor(Date.now() / 1000)
  const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data })
  const signature = createHmac('sha256', Buffer.from(key, 'base64'))
    .update(`${id}.${at}.${body}`)
    .digest('base64')
  return new Request('http://bench.test/in/bench', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${signature}`,
    },
    body,
  })
}

const lines = Array.from({ length: 9 }, (_, line) => ({
  line,
  description: `A thing that was bought, number ${line}`,
  amount: 1200 + line,
  quantity: line % 3,
}))
