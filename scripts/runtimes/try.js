// Receives over Fetch, plans, and acts at a real HTTP recipient whose first answer is lost: what a runtime has to be able to
// do. Runs anywhere.
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { counterfoil, producer, recipient, trigger } from 'counterfoil'
import { standardWebhooks } from 'counterfoil/producers'

const [, , storeKind, location] = process.argv
const secret = Buffer.from('of this trial and of no other')
let acts = 0
const known = new Set()
const far = createServer((request, response) => {
  request.resume().on('end', () => {
    const key = request.headers['idempotency-key']
    if (known.has(key)) return response.end('{}')
    known.add(key)
    acts++
    response.destroy()
  })
})
await new Promise((resolve) => far.listen(0, '127.0.0.1', resolve))

const shop = producer('shop', standardWebhooks({ secrets: `whsec_${secret.toString('base64')}` }))
const mail = recipient('mail', {
  url: `http://127.0.0.1:${far.address().port}`,
  allowPrivateAddresses: true,
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      remembersFor: '24h',
      otherPayload: 'refused',
      replays: 'first-success',
    },
  },
})
const anything = { '~standard': { version: 1, vendor: 'trial', validate: (value) => ({ value }) } }
const send = mail.effect('mail.send', {
  payload: anything,
  request: (payload) => ({ method: 'POST', path: '/', body: payload }),
})
const store =
  storeKind === 'sqlite'
    ? (await import('counterfoil/sqlite')).sqlite(location)
    : (await import('counterfoil/postgres')).postgres(location)
const app = counterfoil({
  store,
  recipients: [mail],
  triggers: [
    trigger('send', {
      on: shop.event('order.paid'),
      plan: ({ data }, { effect }) => effect(send, { key: `order/${data.order}`, payload: data }),
    }),
  ],
  log: () => {},
})
await app.start()
const body = JSON.stringify({ type: 'order.paid', timestamp: new Date().toISOString(), data: { order: '7' } })
const at = String(Math.floor(Date.now() / 1000))
const receive = () =>
  app.receive(
    new Request('https://shop.example.com/in/shop', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'msg_1',
        'webhook-timestamp': at,
        'webhook-signature': `v1,${createHmac('sha256', secret).update(`msg_1.${at}.${body}`).digest('base64')}`,
      },
      body,
    }),
  )
const answers = [(await receive()).status, (await receive()).status]
let outcomes = ''
for (let looks = 0; looks < 500; looks++) {
  const [story] = await app.store.showEffects('order/7')
  outcomes = story?.effect.attempts.map((one) => one.outcome).join()
  if (story?.effect.state === 'confirmed') break
  if (looks === 499)
    throw new Error(
      `the effect stays ${story?.effect.state ?? 'unplanned'}: ${story?.effect.attempts.map((one) => one.why)}, acts ${acts}`,
    )
  await new Promise((resolve) => setTimeout(resolve, 20))
}
await app.stop()
far.close()
console.log(`answers ${answers.join(', ')}; attempts ${outcomes}; acts ${acts}`)
const isRight = answers.join() === '202,200' && outcomes === 'unknown,confirmed' && acts === 1
process.exit(isRight ? 0 : 1)
