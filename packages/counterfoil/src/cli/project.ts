/** What `counterfoil init` writes: the shortest project that receives, plans, acts and can be asked what it did. */

export const configFile = `import { existsSync } from 'node:fs'
import { counterfoil, producer, recipient, trigger } from 'counterfoil'
import { standardWebhooks } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { z } from 'zod'

// Secrets stand in the environment, or in .env beside this file.
if (existsSync('.env')) process.loadEnvFile('.env')

const shop = producer('shop', standardWebhooks({ secrets: process.env.SHOP_WEBHOOK_SECRET ?? '' }))

const orderPaid = shop.event('order.paid', {
  schema: z.object({ order: z.string(), email: z.string() }),
})

// Put your own API here: give \`url\` instead of \`call\`, and in its contract what it promises.
const mail = recipient('mail', {
  contract: {},
  call: async ({ to, order }: { to: string; order: string }, { idempotencyKey }) => {
    console.log(\`mail to \${to} about order \${order}, key \${idempotencyKey}\`)
  },
})

const sendReceipt = mail.effect('receipt.send', {
  payload: z.object({ to: z.string(), order: z.string() }),
  request: (payload) => payload,
})

export default counterfoil({
  store: sqlite('counterfoil.db'),
  recipients: [mail],
  triggers: [
    trigger('send a receipt for a paid order', {
      on: orderPaid,
      plan: ({ data }, { effect }) => {
        effect(sendReceipt, {
          key: \`order/\${data.order}/receipt/revision/1\`,
          payload: { to: data.email, order: data.order },
        })
      },
    }),
  ],
})
`

export const senderFile = `// Sends one signed event twice, as a producer does that missed the first answer.
import { createHmac, randomUUID } from 'node:crypto'

process.loadEnvFile('.env')
const secret = Buffer.from((process.env.SHOP_WEBHOOK_SECRET ?? '').replace('whsec_', ''), 'base64')
const id = \`msg_\${randomUUID()}\`
const order = process.argv[2] ?? String(Date.now())
const body = JSON.stringify({
  type: 'order.paid',
  timestamp: new Date().toISOString(),
  data: { order, email: 'customer@example.com' },
})
for (let delivery = 1; delivery <= 2; delivery++) {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', secret).update(\`\${id}.\${timestamp}.\${body}\`).digest('base64')
  const response = await fetch(\`\${process.env.SERVER ?? 'http://127.0.0.1:4840'}/in/shop\`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': \`v1,\${signature}\`,
    },
    body,
  })
  console.log(response.status, await response.text())
}
`

export const ignoreFile = `node_modules
.env
counterfoil.db*
`

/** @param name of the directory; npm takes it in lower case and without most characters */
export function packageFile(name: string): string {
  const packageName = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  const about = {
    name: packageName === '' ? 'counterfoil-project' : packageName,
    private: true,
    type: 'module',
    scripts: { start: 'counterfoil serve', check: 'counterfoil check' },
    dependencies: { counterfoil: '^0.1.0', zod: '^4.0.0' },
    engines: { node: '>=24.15' },
  }
  return `${JSON.stringify(about, null, 2)}\n`
}

export function environmentFile(webhookSecret: Uint8Array, vaultKey: Uint8Array): string {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
  return `# Made for this project alone. Keep it out of the repository.
SHOP_WEBHOOK_SECRET=whsec_${base64(webhookSecret)}
# Seals the payloads. Without it they cannot be read again.
COUNTERFOIL_VAULT_KEYS=first:${base64(vaultKey)}
`
}
