import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { type Alert, counterfoil, type Network, producer, recipient, trigger } from 'counterfoil'
import { awsSns } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { z } from 'zod'
import { check } from '../packages/counterfoil/src/cli/check.ts'
import { reprocess } from '../packages/counterfoil/src/operate/index.ts'
import { disposeWorlds, World } from './world.ts'

/** What Amazon SNS sends before a subscription begins, and what lies at AWS. */
interface Confirmation {
  readonly config: { readonly topics: readonly string[] }
  readonly request: { readonly headers: Record<string, string>; readonly bodyBase64: string }
  readonly served: readonly { readonly url: string; readonly body: string }[]
}

const vectors = JSON.parse(
  readFileSync(join(import.meta.dirname, '../vectors/known/aws-sns.json'), 'utf8'),
) as (Confirmation & { readonly id: string })[]
const confirmation = vectors.find(({ id }) => id === 'aws-sns-07')!
const body = Buffer.from(confirmation.request.bodyBase64, 'base64')
const { SubscribeURL: subscribeUrl, MessageId: messageId } = JSON.parse(String(body)) as Record<
  'SubscribeURL' | 'MessageId',
  string
>
const certificates = confirmation.served.map(({ url }) => url)

const hour = 3_600_000
const olga = { name: 'olga', role: 'operator' } as const

afterEach(disposeWorlds)

/** A program that subscribes to confirmations, as docs/producers.md shows, and what it asks of AWS. */
async function subscribing(
  about: { readonly topics?: string; readonly fault?: 'lost-answer'; readonly handled?: boolean } = {},
) {
  const { topics = confirmation.config.topics, fault = 'none', handled = true } = about
  const alerts: Alert[] = []
  const asked: string[] = []
  const sns = producer('sns', awsSns({ topics }))
  const aws = recipient('sns', {
    url: 'https://sns.us-west-2.amazonaws.com',
    contract: {
      idempotency: {
        header: 'Idempotency-Key',
        remembersFor: '1h',
        otherPayload: 'unstated',
        replays: 'first-success',
      },
    },
  })
  const confirm = aws.effect('subscription.confirm', {
    payload: z.object({ address: z.string() }),
    request: ({ address }) => ({ method: 'GET', path: address.slice(new URL(address).origin.length) }),
  })
  const confirms = trigger('confirm a subscription', {
    on: sns.event('SubscriptionConfirmation', {
      schema: z.object({
        SubscribeURL: z
          .string()
          .startsWith('https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&'),
      }),
    }),
    plan: ({ id, data }, { effect }) =>
      effect(confirm, { key: `sns/${id}/confirm`, payload: { address: data.SubscribeURL } }),
  })
  const world = new World({
    shape: 'idempotent',
    network: (_, count) => (count === 0 ? fault : 'none'),
    configure: () => ({
      producers: [sns],
      recipients: [aws],
      triggers: handled ? [confirms] : [],
      onAlert: (alert) => void alerts.push(alert),
    }),
  })
  const wrap = (network: Network): Network => ({
    ...network,
    async send(request, signal) {
      asked.push(request.url.href)
      const found = confirmation.served.find(({ url }) => url === request.url.href)
      return found === undefined
        ? await network.send(request, signal)
        : { kind: 'answered', status: 200, headers: {}, body: Buffer.from(found.body) }
    },
  })
  await world.start({ wrap })
  const receive = async () => {
    const { headers } = confirmation.request
    const request = new Request('http://counterfoil.test/in/sns', { method: 'POST', headers, body })
    const response = await world.app.receive(request)
    return { status: response.status, answer: (await response.json()) as Record<string, string> }
  }
  const waiting = async () => (await world.app.store.listQuarantine({ limit: 9 })).entries
  const approve = async (decision: string, expectedVersion = 1) =>
    await reprocess(world.app, (await waiting())[0]!.id, {
      ...{ operator: olga, reason: 'we asked for it', decision, expectedVersion },
    })
  return { world, alerts, asked, receive, waiting, approve }
}

for (const handled of [true, false]) {
  test(`a confirmation ${handled ? 'that a trigger takes' : 'that no trigger takes'} waits for an operator`, async () => {
    const { world, alerts, asked, receive, waiting } = await subscribing({ handled })
    const { status, answer } = await receive()
    assert.deepEqual([status, answer.outcome, answer.reason], [200, 'quarantined', 'unsupported-type'])
    assert.equal((await receive()).status, 200)
    await world.settle(hour)
    const [entry, ...others] = await waiting()
    assert.deepEqual([entry?.state, entry?.type, others.length], ['waiting', 'SubscriptionConfirmation', 0])
    assert.match(String(entry?.detail.why), /operator/)
    assert.deepEqual(
      alerts.map(({ quarantine, reason }) => [quarantine, reason]),
      [[entry!.id, 'unsupported-type']],
    )
    assert.deepEqual(asked, certificates)
    assert.deepEqual(await world.app.store.listEffects({ limit: 1 }), [])
  })
}

for (const fault of [undefined, 'lost-answer'] as const) {
  test(`approved, it is confirmed once, with ${fault ?? 'its answer'} as evidence`, async () => {
    const { world, asked, receive, approve } = await subscribing(fault === undefined ? {} : { fault })
    await receive()
    assert.equal((await approve('go')).outcome, 'released')
    assert.equal((await approve('go')).repeated, true)
    await assert.rejects(approve('go-again', 2), { code: 'quarantine_settled' })
    await receive()
    await world.settle(hour)
    const [effect, ...others] = await world.app.store.listEffects({ limit: 5 })
    assert.deepEqual([effect?.key, effect?.state], [`sns/${messageId}/confirm`, 'confirmed'])
    assert.deepEqual(
      effect?.attempts.map(({ outcome }) => outcome),
      fault === undefined ? ['confirmed'] : ['unknown', 'confirmed'],
    )
    assert.equal(others.length, 0)
    assert.deepEqual([...new Set(asked.filter((url) => !certificates.includes(url)))], [subscribeUrl])
    assert.equal(world.recipient.acts.length, 1)
    assert.deepEqual(await world.violations(), [])
  })
}

test('approved before a trigger takes it, it stays and says so', async () => {
  const { world, asked, receive, approve } = await subscribing({ handled: false })
  await receive()
  const { outcome, notes } = await approve('too-early')
  assert.deepEqual([outcome, notes[0]?.reason], ['kept', 'unsupported-type'])
  await world.settle(hour)
  assert.deepEqual(asked, certificates)
})

test('a confirmation for a topic that is not ours leaves nothing', async () => {
  const { world, alerts, asked, receive, waiting } = await subscribing({
    topics: 'arn:aws:sns:us-west-2:1:Other',
  })
  assert.equal((await receive()).status, 401)
  await world.settle(hour)
  assert.deepEqual([await waiting(), alerts], [[], []])
  assert.deepEqual(asked, certificates)
})

test('check says which types an operator approves', async () => {
  const lines: string[] = []
  const app = counterfoil({
    store: sqlite(join(import.meta.dirname, 'no-such-directory/counterfoil.db')),
    producers: [producer('sns', awsSns(confirmation.config))],
    recipients: [],
    triggers: [],
  })
  const out = { json: () => {}, progress: () => {}, line: (text = '') => void lines.push(text) }
  await check.run({ positionals: [], options: {}, app: async () => app, out })
  assert.ok(lines.includes('  an operator approves each: SubscriptionConfirmation, UnsubscribeConfirmation'))
})
