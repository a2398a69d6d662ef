import { mkdirSync } from 'node:fs'
import { counterfoil, producer, trigger } from 'counterfoil'
import { github, standardWebhooks, stripe } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { amountOf, BillingObject, billingCardOf, billingTypes } from './billing-events.ts'
import { cardOf, GitHubPayload, gitHubTypes } from './github-events.ts'
import { directory, ledgerFile } from './places.ts'
import { secrets } from './secrets.ts'
import { pinCard, startJob, workshop } from './workshop.ts'

const repositories = producer('github', github({ secrets: secrets.github }))
const shop = producer('standard', standardWebhooks({ secrets: secrets.standard }))
const payments = producer('stripe', stripe({ secrets: secrets.stripe }))

const paid = [
  ...billingTypes.standard.paid.map((type) => shop.event(type, { schema: BillingObject })),
  ...billingTypes.stripe.paid.map((type) => payments.event(type, { schema: BillingObject })),
]
const otherBilling = [
  ...billingTypes.standard.other.map((type) => shop.event(type, { schema: BillingObject })),
  ...billingTypes.stripe.other.map((type) => payments.event(type, { schema: BillingObject })),
]

// SQLite makes its file, and not the directory around it.
mkdirSync(directory, { recursive: true })

export default counterfoil({
  store: sqlite(ledgerFile),
  recipients: [workshop],
  version: 'demo',
  triggers: [
    trigger('pin a card for what happens in a repository', {
      on: gitHubTypes.map((type) => repositories.event(type, { schema: GitHubPayload })),
      plan: (event, { effect }) => {
        const card = cardOf(event.type, event.data, event.fingerprint)
        effect(pinCard, { key: card.reference, payload: card })
      },
    }),
    trigger('take note of a ping', {
      on: repositories.event('ping', { schema: GitHubPayload }),
      // A supported type that asks for nothing: it ends planned, without an effect.
      plan: () => {},
    }),
    trigger('start a job when it is paid', {
      on: paid,
      plan: async (event, { tx, effect }) => {
        const job = billingCardOf(event, event.data)
        // A table of the program's own, in the transaction that the effect commits in: both are there or neither.
        await tx.run(`
          create table if not exists demo_payment (
            reference text primary key, amount text, currency text, events integer not null
          ) strict`)
        await tx.run(
          `insert into demo_payment (reference, amount, currency, events) values (?, ?, ?, 1)
           on conflict (reference) do update set events = events + 1`,
          job.reference,
          amountOf(event.data),
          event.data.currency ?? null,
        )
        effect(startJob, { key: job.reference, payload: job })
      },
    }),
    trigger('pin a card for what else happens in the shop', {
      on: otherBilling,
      plan: (event, { effect }) => {
        const card = billingCardOf(event, event.data)
        effect(pinCard, { key: card.reference, payload: card })
      },
    }),
  ],
})
