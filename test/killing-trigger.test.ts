import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { KeyedRecipient } from './fixtures/keyed-recipient.ts'
import { DemoProcesses, github } from './processes.ts'

const processes = new DemoProcesses({ config: join(import.meta.dirname, 'fixtures/killing.config.ts') })
const recipient = new KeyedRecipient()
let over = false
after(async () => {
  over = true
  await recipient.stop()
  await processes.dispose()
})

interface Entry {
  readonly eventId: string
  readonly reason: string
  readonly detail: unknown
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!over && !(await holds())) await new Promise((resolve) => setTimeout(resolve, 50))
}

/** Sends it again until it is acknowledged, as producers do. */
async function deliver(number: number, kills: boolean): Promise<void> {
  const request = github('issues', `delivery-${number}`, { number, kills })
  const send = () => fetch(`${processes.url}/in/github`, request)
  await until(() =>
    send().then(
      ({ ok }) => ok,
      () => false,
    ),
  )
}

/** Starts the server again whenever it ended. @returns how often */
async function supervise(): Promise<number> {
  let starts = 0
  await until(async () => {
    // It may end again before it is ready.
    if (!processes.runs) await processes.startServer().catch(() => {})
    else return false
    assert.ok(++starts < 20, 'the event is planned for ever')
    return false
  })
  return starts
}

test('an event whose trigger ends its process goes to quarantine, and takes no other along', async () => {
  await recipient.start()
  processes.environment.COUNTERFOIL_DEMO_RECIPIENT = recipient.url
  await processes.startServer()
  const supervised = supervise()
  const all = Array.from({ length: 12 }, (_, number) => number)
  const others = all.filter((number) => number !== 6)
  const quarantined = async () => {
    await Promise.all(all.map((number) => deliver(number, number === 6)))
    let entries: readonly Entry[] = []
    // While the process is down, a command reads the store all the same.
    await until(async () => {
      entries = (await processes.counterfoil<{ quarantine: Entry[] }>('quarantine', 'list')).quarantine
      return entries.length > 0
    })
    return entries
  }
  const entries = await Promise.race([quarantined(), supervised.then(() => assert.fail('nothing runs'))])
  assert.deepEqual(
    entries.map(({ eventId, reason }) => [eventId, reason]),
    [['delivery-6', 'plan-failed']],
  )
  assert.match(JSON.stringify(entries[0]?.detail), /plan_lost/)

  await deliver(12, false)
  const confirmed = ['effects', 'list', '--state', 'confirmed']
  await until(async () => {
    const { effects } = await processes.counterfoil<{ effects: unknown[] }>(...confirmed)
    return effects.length === others.length + 1
  })
  over = true
  const starts = await supervised
  assert.ok(starts >= 4, `it was planned ${starts} times`)
  assert.deepEqual(
    recipient.acts.map(({ body }) => body.issue).sort((a, b) => a - b),
    [...others, 12],
  )
})
