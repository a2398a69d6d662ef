import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DemoProcesses, github } from './processes.ts'

interface Effect {
  readonly key: string
  readonly state: string
  readonly idempotencyKey: string
  readonly attempts: readonly unknown[]
}

const kills = Number(process.env.KILLS ?? 8)
const eventsPerLife = 120

/** Sends until it gets a 2xx, as a producer does, and again for good measure. */
async function sendUntilAcknowledged(
  demo: DemoProcesses,
  index: number,
  acknowledged: Map<string, string>,
): Promise<void> {
  const id = `kill-${index}`
  const payload = {
    action: 'opened',
    issue: { number: index, title: `Issue ${index}` },
    repository: { full_name: 'octo/kill' },
  }
  for (let copies = 0; copies < 2; ) {
    try {
      const response = await fetch(`${demo.url}/in/github`, github('issues', id, payload))
      const answer = (await response.json()) as { receipt: string }
      if (!response.ok) throw new Error(String(response.status))
      acknowledged.set(id, answer.receipt)
      copies++
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

test(`kill -9 of the server ${kills} times under load loses no acknowledged delivery and doubles no effect`, async () => {
  const demo = new DemoProcesses()
  try {
    await demo.startRecipient()
    await demo.startServer()
    const acknowledged = new Map<string, string>()
    let sent = 0
    for (let life = 0; life < kills; life++) {
      await demo.control({ lose: 3, late: 2, fail: 2 })
      const senders = Array.from({ length: eventsPerLife }, () =>
        sendUntilAcknowledged(demo, sent++, acknowledged),
      )
      // Somewhere between the first receipt and the last settled effect.
      await new Promise((resolve) => setTimeout(resolve, 40 + ((life * 97) % 500)))
      await demo.killServer()
      await demo.startServer()
      await Promise.all(senders)
    }
    const effects = await quiet(demo, sent)
    const { receipts } = await demo.counterfoil<{
      receipts: { id: string; eventId: string; state: string }[]
    }>('receipts', 'list', '--limit', '9999')
    const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]))
    for (const [id, receipt] of acknowledged)
      assert.equal(byId.get(receipt)?.eventId, id, `${id} was acknowledged`)
    assert.equal(receipts.length, sent)
    assert.deepEqual(new Set(receipts.map((receipt) => receipt.state)), new Set(['planned']))

    const acts = await demo.acts()
    for (const effect of effects)
      assert.equal(acts[effect.idempotencyKey], 1, `${effect.key} is ${effect.state}`)
    assert.equal(effects.length, sent)
    assert.equal(Object.keys(acts).length, sent)
  } finally {
    await demo.dispose()
  }
})

test('a server that sleeps past its leases while another works, and wakes, does no harm (C02)', async () => {
  const demo = new DemoProcesses()
  try {
    await demo.startRecipient()
    await demo.startServer()
    await demo.control({ late: 20 })
    const acknowledged = new Map<string, string>()
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => sendUntilAcknowledged(demo, index, acknowledged)),
    )
    demo.server.kill('SIGSTOP')
    const sleeper = demo.server
    // A second server on the same file takes over what the sleeper holds.
    await demo.startAnother()
    await new Promise((resolve) => setTimeout(resolve, 12_000))
    sleeper.kill('SIGCONT')
    const effects = await quiet(demo, 20)
    const acts = await demo.acts()
    for (const effect of effects)
      assert.deepEqual([effect.state, acts[effect.idempotencyKey]], ['confirmed', 1])
  } finally {
    await demo.dispose()
  }
})

/** Waits until nothing moves any more: every effect final. */
async function quiet(demo: DemoProcesses, count: number): Promise<Effect[]> {
  for (let tries = 0; ; tries++) {
    const { effects } = await demo.counterfoil<{ effects: Effect[] }>('effects', 'list', '--limit', '9999')
    const moving = effects.filter((effect) => ['planned', 'attempting', 'unknown'].includes(effect.state))
    if (effects.length === count && moving.length === 0) return effects
    assert.ok(
      tries < 120,
      `${effects.length} of ${count} effects, ${moving.length} still moving: ${JSON.stringify(moving[0])}`,
    )
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}
