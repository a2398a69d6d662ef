import { type Counterfoil, counterfoil, producer, recipient, type Store, trigger } from 'counterfoil'
import { stripe } from 'counterfoil/producers'
import { z } from 'zod'

const Invoice = z.object({ id: z.string(), customer: z.string(), amount_paid: z.number() })

/** A paid invoice opens a seat. */
export function shop(about: { store: Store; secret: string; provisioning: string }): Counterfoil {
  const payments = producer('stripe', stripe({ secrets: about.secret }))
  const provisioning = recipient('provisioning', {
    url: about.provisioning,
    allowPrivateAddresses: true, // on this machine alone
    timeout: '300ms',
    contract: {
      idempotency: {
        header: 'Idempotency-Key',
        remembersFor: '24h',
        otherPayload: 'refused',
        replays: 'first-success',
      },
    },
  })
  const openSeat = provisioning.effect('seat.open', {
    payload: z.object({ customer: z.string() }),
    request: ({ customer }) => ({ method: 'PUT', path: `/seats/${customer}`, body: { customer } }),
  })
  return counterfoil({
    store: about.store,
    recipients: [provisioning],
    triggers: [
      trigger('open a seat when an invoice is paid', {
        on: payments.event('invoice.paid', { schema: Invoice }),
        when: ({ data }) => data.amount_paid > 0,
        plan: ({ data }, { effect }) =>
          effect(openSeat, {
            key: `invoice/${data.id}/seat/revision/1`,
            payload: { customer: data.customer },
          }),
      }),
    ],
    log: () => {},
  })
}
