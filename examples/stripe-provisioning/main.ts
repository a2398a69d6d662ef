import { createHmac } from 'node:crypto'
import { receiver } from 'counterfoil/express'
import { sqlite } from 'counterfoil/sqlite'
import { listen, onStage, type Say, tell, untilEffect } from '../stage.ts'
import { shop } from './app.ts'

const secret = 'whsec_of_this_example_alone'

/** As Stripe signs it. */
function delivery(event: object): RequestInit {
  const body = JSON.stringify(event)
  const at = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
  const headers = { 'content-type': 'application/json', 'stripe-signature': `t=${at},v1=${signature}` }
  return { method: 'POST', headers, body }
}

export function play(say: Say): Promise<void> {
  return onStage(async (place, keep) => {
    const seats: string[] = []
    const answers = new Map<string, string>()
    const provisioning = keep(
      await listen((request, response) => {
        const key = String(request.headers['idempotency-key'])
        const first = answers.get(key)
        if (first !== undefined) {
          say('provisioning: I know this key. The same answer again; no second seat.')
          response.end(first)
          return
        }
        answers.set(key, '{"open":true}')
        seats.push(request.url!)
        say(`provisioning: opened ${request.url}. And now I hang, without an answer.`)
      }),
    )
    const app = keep(shop({ store: sqlite(place('shop.db')), secret, provisioning: provisioning.url }))
    await app.start()
    const server = keep(await listen(receiver(app)))

    say('Stripe sends invoice.paid three times at once: it missed an answer, as happens.')
    const event = {
      id: 'evt_1',
      object: 'event',
      api_version: '2025-06-30',
      created: Math.floor(Date.now() / 1000),
      type: 'invoice.paid',
      data: { object: { id: 'in_481', customer: 'cus_7', amount_paid: 4900 } },
    }
    const sent = await Promise.all([1, 2, 3].map(() => fetch(`${server.url}/in/stripe`, delivery(event))))
    for (const answer of sent) {
      const { outcome, receipt } = (await answer.json()) as { outcome: string; receipt: string }
      say(`  ${answer.status} ${outcome}, receipt ${receipt}`)
    }
    const key = 'invoice/in_481/seat/revision/1'
    await untilEffect(app, key, 'confirmed')
    await tell(app, key, say)
    say(`Seats opened: ${seats.length}. A queue would have called the time-out a failure.`)

    say('Somebody sends the event with another amount under a secret of his own.')
    const forged = delivery({ ...event, id: 'evt_2' })
    const headers = { ...(forged.headers as object), 'stripe-signature': 't=1,v1=00' }
    const refused = await fetch(`${server.url}/in/stripe`, { ...forged, headers })
    say(`  ${refused.status}: nothing is stored of what nobody signed.`)
  })
}
