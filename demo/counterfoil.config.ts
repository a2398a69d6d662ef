import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { counterfoil, producer, type ReceivedEvent, recipient, trigger } from 'counterfoil'
import { github, standardWebhooks, stripe } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { z } from 'zod'
import { githubKey, githubTypes, recordKey, standardTypes, stripeTypes } from './keys.ts'

/** Several secrets, separated by commas or spaces, while one is being replaced. */
const secrets = (name: string, fallback: string) =>
  process.env[name]?.split(/[\s,]+/).filter(Boolean) ?? [fallback]

const directory = process.env.COUNTERFOIL_DEMO_DIR ?? '.counterfoil'
mkdirSync(directory, { recursive: true })

const repository = producer(
  'github',
  github({ secrets: secretsOrWhole('GITHUB_WEBHOOK_SECRET', "It's a Secret to Everybody") }),
)
const standard = producer(
  'standard',
  standardWebhooks({ secrets: secrets('STANDARD_WEBHOOK_SECRET', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw') }),
)
const payments = producer(
  'stripe',
  stripe({ secrets: secrets('STRIPE_WEBHOOK_SECRET', 'whsec_counterfoil_demo') }),
)

/** A secret for GitHub is free text and may hold spaces; a list is then separated by commas alone. */
function secretsOrWhole(name: string, fallback: string): string[] {
  return process.env[name]?.split(',').filter(Boolean) ?? [fallback]
}

/** The workshop opens a job for what happened. It honours keys, can be asked, and never acts on a request later than 5 s. */
const workshop = recipient('workshop', {
  url: process.env.COUNTERFOIL_DEMO_RECIPIENT ?? 'http://127.0.0.1:4841',
  allowPrivateAddresses: true,
  timeout: '1s',
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      remembersFor: '24h',
      otherPayload: 'refused',
      replays: 'first-success',
    },
    lookup: { by: 'key', path: '/operations/{key}', after: '300ms', absence: { final: true, after: '5s' } },
  },
})

const openJob = workshop.effect('job.open', {
  payload: z.object({ about: z.string(), subject: z.string(), content: z.string() }),
  request: (job) => ({ method: 'POST', path: '/jobs', body: job }),
})

/** Lenient on purpose: the demo takes whatever the producer sends, as long as it is an object. */
const AnyObject = z.looseObject({})
type Payload = z.infer<typeof AnyObject>

const job = (about: string, event: ReceivedEvent<Payload>) => ({
  about,
  subject: event.type,
  content: event.fingerprint,
})

export default counterfoil({
  store: sqlite(join(directory, 'counterfoil.db')),
  version: 'demo-1',
  recipients: [workshop],
  triggers: [
    trigger('open a job for what happened in a repository', {
      on: githubTypes.map((type) => repository.event(type, { schema: AnyObject })),
      // GitHub pings a new hook once; that needs no job.
      when: (event) => event.type !== 'ping',
      plan: async (event, { tx, effect }) => {
        const key = githubKey(event.type, event.data, event.fingerprint)
        // The program's own table, in the same transaction: both are there, or neither.
        await tx.run(
          'create table if not exists seen_in_repository (type text primary key, times integer not null)',
        )
        await tx.run(
          'insert into seen_in_repository values (?, 1) on conflict (type) do update set times = times + 1',
          event.type,
        )
        effect(openJob, { key, payload: job(key, event) })
      },
    }),
    trigger('open a job for a business event', {
      on: standardTypes.map((type) => standard.event(type, { schema: AnyObject })),
      plan: (event, { effect }) => {
        const key = recordKey('standard', event.type, event.data, event.fingerprint)
        effect(openJob, { key, payload: job(key, event) })
      },
    }),
    trigger('open a job for a payment', {
      on: stripeTypes.map((type) => payments.event(type, { schema: AnyObject })),
      plan: (event, { effect }) => {
        const key = recordKey('stripe', event.type, event.data, event.fingerprint)
        effect(openJob, { key, payload: job(key, event) })
      },
    }),
  ],
})
