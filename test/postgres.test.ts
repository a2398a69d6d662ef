import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { postgres } from 'counterfoil/postgres'
import { violations } from 'counterfoil/testing'
import { missing } from '../packages/counterfoil/src/store/postgres/fixtures/binaries.ts'
import { ledgerFaults } from '../packages/counterfoil/src/store/postgres/fixtures/ledger-faults.ts'
import { Server } from '../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { startStandby, until } from '../packages/counterfoil/src/store/postgres/fixtures/standby.ts'
import { skipLoudly } from '../packages/counterfoil/src/testing/skip.ts'
import { type Another, DemoProcesses, end, github } from './processes.ts'

const why = missing(18)
const vaultKey = `test:${Buffer.alloc(32, 'k').toString('base64')}`
const sizes = {
  workers: 4,
  rounds: Number(process.env.ROUNDS ?? 2),
  events: Number(process.env.EVENTS ?? 40),
}

/** Server processes on one database, senders that do not give up, and what was acknowledged. */
class Fleet {
  readonly acknowledged = new Map<string, string>()
  readonly demo: DemoProcesses
  readonly workers: Another[] = []
  #sent = 0

  constructor(url: string) {
    this.demo = new DemoProcesses({
      config: join(import.meta.dirname, 'postgres.config.ts'),
      environment: { COUNTERFOIL_TEST_POSTGRES: url, COUNTERFOIL_VAULT_KEYS: vaultKey },
    })
  }

  async start(workers: number): Promise<void> {
    await this.demo.startRecipient()
    for (let n = 0; n < workers; n++) this.workers.push(await this.demo.startAnother())
  }

  /** Each event goes to some worker until one acknowledges it, and then once more, as producers do. */
  send(count: number): Promise<unknown> {
    return Promise.all(
      Array.from({ length: count }, () => this.#deliver(`event-${++this.#sent}`, this.#sent)),
    )
  }

  async #deliver(id: string, number: number): Promise<void> {
    const payload = {
      action: 'opened',
      issue: { number, title: `Issue ${number}` },
      repository: { full_name: 'octo/fleet' },
    }
    for (let turn = number, copies = 0; copies < 2; turn++) {
      const worker = this.workers[turn % this.workers.length]!
      try {
        const init = { ...github('issues', id, payload), signal: AbortSignal.timeout(5_000) }
        const response = await fetch(`${worker.url}/in/github`, init)
        if (!response.ok) throw new Error(String(response.status))
        this.acknowledged.set(id, ((await response.json()) as { receipt: string }).receipt)
        copies++
      } catch {
        await sleep(100)
      }
    }
  }

  /** Waits until nothing moves, and holds the records against what was seen from outside. */
  async holds(server: Server): Promise<void> {
    const store = postgres(server.url())
    await store.open({ migrate: false })
    try {
      await until('nothing moves any more', async () => {
        const { outbox, effects } = await store
          .status()
          .catch(() => ({ outbox: { waiting: 1 }, effects: null }))
        if (effects === null || outbox.waiting > 0) return false
        const { planned, attempting, unknown } = effects.byState
        return effects.total > 0 && planned + attempting + unknown === 0
      })
      const byKey = await this.demo.acts()
      const acts = Object.entries(byKey).flatMap(([effect, count]) =>
        Array.from({ length: count }, () => ({ effect })),
      )
      const found = await violations(store, {
        acknowledged: [...this.acknowledged.values()] as never,
        sent: [],
        acts,
        evidenceExists: true,
      })
      assert.deepEqual(found, [])
      assert.deepEqual(await ledgerFaults(server), [])
      assert.equal(this.acknowledged.size, this.#sent)
      const { receipts, effects } = await store.status()
      assert.deepEqual([receipts.total, effects.byState.confirmed], [this.#sent, this.#sent])
      assert.equal(acts.length, this.#sent)
    } finally {
      await store.close()
    }
  }
}

async function withFleet(run: (fleet: Fleet, server: Server) => Promise<void>): Promise<void> {
  const server = await Server.start(18)
  const fleet = new Fleet(server.url())
  try {
    await run(fleet, server)
  } finally {
    await fleet.demo.dispose()
    await server.dispose()
  }
}

describe('processes on one PostgreSQL', () => {
  if (why !== undefined) {
    test('PostgreSQL 18', (t) => skipLoudly(t, why))
    return
  }

  test(`${sizes.workers} workers, killed one after another under load: nothing is lost and nothing is doubled`, () =>
    withFleet(async (fleet, server) => {
      await fleet.start(sizes.workers)
      for (let round = 0; round < sizes.rounds; round++) {
        await fleet.demo.control({ lose: 3, late: 2, fail: 2 })
        const sending = fleet.send(sizes.events)
        await sleep(50 + ((round * 97) % 400))
        const victim = round % fleet.workers.length
        await end(fleet.workers[victim]!.child, 'SIGKILL')
        fleet.workers[victim] = await fleet.demo.startAnother()
        await sending
      }
      await fleet.holds(server)
    }))

  test('the database is killed under load and comes back: nothing acknowledged is lost, nothing is doubled', () =>
    withFleet(async (fleet, server) => {
      await fleet.start(2)
      for (let round = 0; round < sizes.rounds; round++) {
        const sending = fleet.send(sizes.events)
        await sleep(50 + ((round * 131) % 300))
        await server.kill('SIGKILL')
        await sleep(200)
        await server.run()
        await sending
      }
      await fleet.holds(server)
    }))

  test('the primary is lost and its synchronous standby takes over: what was acknowledged is there (I1)', async () => {
    const primary = await Server.start(18)
    const standby = await startStandby(primary, 's1')
    const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`
    const fleet = new Fleet(`postgres://postgres@${hosts}/postgres`)
    try {
      await fleet.start(2)
      const sending = fleet.send(sizes.events * 2)
      await until('some are acknowledged', async () => fleet.acknowledged.size >= 20)
      await primary.kill('SIGKILL')
      await standby.query('select pg_promote()')
      await sending
      await fleet.holds(standby)
    } finally {
      await fleet.demo.dispose()
      await primary.dispose()
      await standby.dispose()
    }
  })

  test('a worker that sleeps past its leases while another works, and wakes, does no harm (C02)', () =>
    withFleet(async (fleet, server) => {
      await fleet.start(2)
      const [sleeper, awake] = [...fleet.workers] as [Another, Another]
      await fleet.demo.control({ late: 10 })
      fleet.workers.splice(0, 2, sleeper)
      await fleet.send(20)
      sleeper.child.kill('SIGSTOP')
      fleet.workers.splice(0, 1, awake)
      await fleet.send(10)
      // Its leases are 3 s.
      await sleep(4_000)
      sleeper.child.kill('SIGCONT')
      await fleet.holds(server)
    }))
})
