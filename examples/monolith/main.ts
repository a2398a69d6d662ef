import { createHmac } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { receiver } from 'counterfoil/express'
import { sqlite } from 'counterfoil/sqlite'
import express from 'express'
import { listen, onStage, type Say, tell, textOf, until, untilEffect } from '../stage.ts'
import { monolith, placed } from './app.ts'
import { chargeTheOldWay } from './old-way.ts'

const secret = Buffer.from('of this example, and no other')

/** A webhook of the carrier, by the Standard Webhooks. */
function parcelDelivered(order: string): RequestInit {
  const body = JSON.stringify({
    type: 'parcel.delivered',
    timestamp: '2026-01-01T00:00:00Z',
    data: { order },
  })
  const at = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', secret).update(`parcel-${order}.${at}.${body}`).digest('base64')
  const signed = {
    'webhook-id': `parcel-${order}`,
    'webhook-timestamp': at,
    'webhook-signature': `v1,${signature}`,
  }
  return { method: 'POST', headers: { 'content-type': 'application/json', ...signed }, body }
}

export function play(say: Say): Promise<void> {
  return onStage(async (place, keep) => {
    const charges: string[] = []
    const keys = new Set<unknown>()
    const asked = new Map<string, number>()
    const bank = keep(
      await listen(async (request, response) => {
        const { order } = JSON.parse(await textOf(request)) as { order: string }
        const key = request.headers['idempotency-key']
        if (key === undefined || !keys.has(key)) charges.push(order)
        if (key !== undefined) keys.add(key)
        asked.set(order, (asked.get(order) ?? 0) + 1)
        // The first request for each order is carried out, and its answer takes too long.
        if (asked.get(order)! > 1) response.end('{}')
      }),
    )
    const chargesOf = (order: string) => charges.filter((one) => one === order).length

    say('Step 0. The monolith calls the bank from its request handler, and tries again after a time-out.')
    await chargeTheOldWay(bank.url, 'old')
    say(`  charges for order 'old': ${chargesOf('old')}`)

    const file = place('shop.db')
    const tables = new DatabaseSync(file, { timeout: 5_000 })
    tables.exec('create table placed_order (id text primary key, parcels integer not null default 0) strict')
    const app = keep(
      monolith({
        store: sqlite(file),
        database: tables,
        bank: bank.url,
        webhookSecret: `whsec_${secret.toString('base64')}`,
      }),
    )
    await app.start()
    const database = new DatabaseSync(file, { timeout: 5_000 })
    keep({ stop: () => database.close() })
    const server = express()
    server.all('/in/*producer', receiver(app)) // the one new line, before the body parser
    server.use(express.json())
    server.post('/orders', async (request, response) => {
      const { order } = request.body as { order: string }
      database.exec('begin immediate')
      database.prepare('insert into placed_order (id) values (?)').run(order)
      await app.publish(database, { type: placed, data: { order } }) // in place of the call
      database.exec('commit')
      response.status(202).json({ order })
    })
    const web = keep(await listen(server))

    say('Step 1. Webhooks go through the receiver: the carrier sends one delivery three times.')
    database.prepare('insert into placed_order (id) values (?)').run('7')
    for (let times = 0; times < 3; times++) await fetch(`${web.url}/in/carrier`, parcelDelivered('7'))
    const parcels = () =>
      Number(database.prepare('select parcels from placed_order where id = ?').get('7')!.parcels)
    await until('the parcel is noted', () => parcels() > 0)
    say(`  parcels of order '7': ${parcels()}`)

    say('Step 2. The handler publishes in the transaction it had, and the call goes through the ledger.')
    await fetch(`${web.url}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ order: 'new' }),
    })
    const key = 'order/new/charge/revision/1'
    await untilEffect(app, key, 'confirmed')
    await tell(app, key, say)
    say(`  charges for order 'new': ${chargesOf('new')}`)
    say('Step 3. Old calls move one by one: `counterfoil effects list` shows those that have.')
  })
}
