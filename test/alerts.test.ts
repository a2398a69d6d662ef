import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { type Alert, alertTo, type CounterfoilOptions, type Recipient } from 'counterfoil'
import { z } from 'zod'
import { disposeWorlds, World, type WorldOptions } from './world.ts'

afterEach(disposeWorlds)

const hour = 3_600_000

/** Alerts are posted at the world's recipient; what no effect delivers is collected. */
function alerting(about: Partial<WorldOptions> = {}, alerts: CounterfoilOptions['alerts'] = {}) {
  const undelivered: Alert[] = []
  const world = new World({
    shape: 'both',
    ...about,
    configure: (seats: Recipient) => ({
      owners: [{ type: 'invoice.*', owner: 'billing' }],
      owner: 'operators',
      onAlert: (alert) => void undelivered.push(alert),
      alerts: {
        to: alertTo(
          seats.effect('message.post', {
            payload: z.object({ channel: z.string(), text: z.string() }),
            request: (message) => ({ method: 'POST', path: '/messages', body: message }),
          }),
          (alert) => ({ channel: alert.owner, text: alert.text }),
        ),
        ...alerts,
      },
    }),
  })
  return { world, undelivered }
}

const messages = (world: World) =>
  world.recipient.acts.map(({ body }) => JSON.parse(body) as { channel: string; text: string })

test('an alert is an effect: its key names the entry, its causes the receipt, and it is confirmed', async () => {
  const { world, undelivered } = alerting()
  await world.start()
  assert.equal((await world.deliver('1', {}, 'invoice.odd'))?.outcome, 'quarantined')
  await world.settle(hour)
  const [entry] = (await world.app.store.listQuarantine({ limit: 2 })).entries
  const [effect, ...others] = await world.app.store.listEffects({ limit: 5 })
  assert.ok(entry && effect && others.length === 0)
  assert.deepEqual(
    [effect.key, effect.state, effect.name],
    [`alert/quarantine/${entry.id}/raised`, 'confirmed', 'message.post'],
  )
  assert.deepEqual(
    (await world.app.store.showEffects(effect.id))[0]?.causes.map(({ receipt, trigger }) => [
      receipt,
      trigger,
    ]),
    [[entry.receipt, 'alert']],
  )
  assert.deepEqual(messages(world), [
    { channel: 'billing', text: `Quarantine entry ${entry.id} waits for billing: unsupported-type.` },
  ])
  assert.deepEqual(undelivered, [])
  assert.deepEqual(await world.violations(), [])
})

test('an alert whose answer is lost stays unknown until evidence comes, and is posted once', async () => {
  const { world } = alerting({ network: (_, count) => (count === 0 ? 'lost-answer' : 'none') })
  await world.start()
  await world.deliver('1', {}, 'odd')
  await world.settle(hour)
  const [effect] = await world.app.store.listEffects({ limit: 1 })
  assert.deepEqual([effect?.state, effect?.attempts[0]?.outcome], ['confirmed', 'unknown'])
  assert.equal(world.recipient.acts.length, 1)
})

for (const when of ['before', 'after'] as const) {
  test(`a crash ${when} an alert is planned posts it once all the same`, async () => {
    const { world } = alerting()
    await world.start({ store: { kind: 'crash', call: 'planAlert', when } })
    await world.deliver('1', {}, 'odd')
    await world.run(hour, () => !world.process.alive)
    assert.equal(world.process.alive, false)
    await world.kill()
    await world.start()
    await world.settle(hour)
    assert.equal(world.recipient.acts.length, 1)
    assert.deepEqual(await world.violations(), [])
  })
}

test('the delivery of an alert that goes to a person is told another way, and raises no chain of alerts', async () => {
  const { world, undelivered } = alerting({ shape: 'neither', network: () => 'lost-answer' })
  await world.start()
  await world.deliver('1', {}, 'odd')
  await world.settle(48 * hour)
  const effects = await world.app.store.listEffects({ limit: 9 })
  assert.deepEqual(
    effects.map(({ state, escalated }) => [state, escalated]),
    [['unknown', true]],
  )
  assert.deepEqual(
    undelivered.map(({ effect, quarantine }) => [effect, quarantine]),
    [[effects[0]?.id, null]],
  )
})

test('an effect that goes to a person raises an alert that is delivered with the same causes', async () => {
  const { world } = alerting({
    shape: 'neither',
    network: (request) => (request.url.pathname === '/messages' ? 'none' : 'lost-answer'),
  })
  await world.start()
  const answer = await world.deliver('481')
  assert.equal(answer?.outcome, 'accepted')
  await world.settle(48 * hour)
  const effects = await world.app.store.listEffects({ limit: 9 })
  const [alert, seat] = effects
  assert.equal(effects.length, 2)
  assert.match(alert?.key ?? '', new RegExp(`^alert/effect/${seat?.id}/version/\\d+$`))
  const causes = async (id = '') =>
    (await world.app.store.showEffects(id))[0]?.causes.map(({ receipt }) => receipt)
  assert.deepEqual(await causes(alert?.id), await causes(seat?.id))
})

test('an entry that nobody attends to is escalated, and again, until somebody is assigned', async () => {
  const { world } = alerting({}, { unattended: { after: '10m', owner: 'head of billing' } })
  await world.start()
  await world.deliver('1', {}, 'invoice.odd')
  const posted = async (count: number) => {
    await world.run(hour / 2, () => world.recipient.acts.length >= count)
    return messages(world).map(({ channel }) => channel)
  }
  assert.deepEqual(await posted(1), ['billing'])
  assert.deepEqual(await posted(2), ['billing', 'head of billing'])
  assert.match(messages(world)[1]?.text ?? '', /nobody has looked at it yet/)
  const begun = world.clock.now()
  assert.deepEqual(await posted(3), ['billing', 'head of billing', 'head of billing'])
  assert.ok(world.clock.now() - begun >= hour / 6)
  const [entry] = (await world.app.store.listQuarantine({ limit: 1 })).entries
  assert.ok(entry)
  const audit = {
    at: world.clock.now(),
    operator: 'dana',
    role: 'operator',
    act: 'quarantine.assign',
    subject: entry.id,
    decision: 'd',
    reason: 'mine',
    detail: {},
  } as const
  const move = { to: 'assigned', assignee: 'dana' } as const
  await world.app.store.decideQuarantine({
    audit,
    entries: [{ id: entry.id, expectedVersion: entry.version, move }],
    whole: true,
  })
  await world.run(hour / 2)
  assert.equal(world.recipient.acts.length, 3)
})

test('a payload that cannot be made is tried again and holds up nothing else', async () => {
  let made = 0
  const broken = new World({
    shape: 'both',
    configure: (seats) => ({
      alerts: {
        to: alertTo(
          seats.effect('message.post', {
            payload: z.object({ text: z.string() }),
            request: (message) => ({ method: 'POST', path: '/messages', body: message }),
          }),
          ({ text }) => {
            if (made++ === 0) throw new Error('planted')
            return { text }
          },
        ),
      },
    }),
  })
  await broken.start()
  await broken.deliver('1', {}, 'odd')
  await broken.deliver('481')
  await broken.settle(hour)
  assert.equal(made, 2)
  assert.deepEqual(
    (await broken.app.store.listEffects({ limit: 5 })).map(({ state }) => state),
    ['confirmed', 'confirmed'],
  )
})

test('alerts for a recipient that is not configured are refused at the start', () => {
  const world = new World({
    shape: 'both',
    configure: (seats) => ({
      recipients: [],
      alerts: {
        to: alertTo(
          seats.effect('message.post', {
            payload: z.object({}),
            request: () => ({ method: 'POST', path: '/messages' }),
          }),
          () => ({}),
        ),
      },
    }),
  })
  return assert.rejects(world.start(), { code: 'config_invalid' })
})
