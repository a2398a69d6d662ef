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

// Put your own API here, and in its contract what it promises. This one is mail-service.ts beside this file.
const mail = recipient('mail', {
  url: process.env.MAIL_SERVICE ?? 'http://127.0.0.1:4850',
  allowPrivateAddresses: true, // for this machine alone
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      remembersFor: '24h',
      otherPayload: 'refused',
      replays: 'first-success',
    },
  },
})

const sendReceipt = mail.effect('receipt.send', {
  payload: z.object({ to: z.string(), order: z.string() }),
  request: (payload) => ({ method: 'POST', path: '/mails', body: payload }),
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

export const serviceFile = `// Stands for somebody's mail API. It remembers keys for as long as it runs, and it loses its first answer to each:
// the mail is sent, and the caller does not hear of it.
import { createServer } from 'node:http'

const sent = new Map<string, string>()
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const key = String(request.headers['idempotency-key'])
  const first = sent.get(key)
  if (first === undefined) {
    sent.set(key, body)
    console.log(\`sent a mail: \${body}, key \${key}; the answer is lost\`)
    response.destroy()
  } else if (first !== body) {
    response.writeHead(422).end()
  } else {
    console.log(\`asked again under key \${key}: the first answer, and no second mail\`)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"sent":true}')
  }
})
server.listen(Number(process.env.PORT ?? 4850), '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  console.log(\`the mail service is at http://127.0.0.1:\${port}\`)
})
`

export const ignoreFile = `node_modules
.env
counterfoil.db*
`

const dependencies: Readonly<Record<string, string>> = { counterfoil: '^0.1.0', zod: '^4.0.0' }

/** Commands that bring a package.json that was there to what the other files need. Empty when it has everything. */
export function whatIsMissing(packageJson: string): readonly string[] {
  let about: { type?: unknown; dependencies?: object; devDependencies?: object }
  try {
    about = JSON.parse(packageJson)
  } catch {
    about = {}
  }
  const installed = { ...about.devDependencies, ...about.dependencies }
  const missing = Object.keys(dependencies).filter((name) => !Object.hasOwn(installed, name))
  return [
    ...(about.type === 'module' ? [] : ['npm pkg set type=module']),
    ...(missing.length === 0 ? [] : [`npm install ${missing.join(' ')}`]),
  ]
}

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
    dependencies,
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
