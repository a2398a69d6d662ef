import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { ReceiptView } from '../packages/counterfoil/src/store/index.ts'
import { sqlite } from '../packages/counterfoil/src/store/sqlite/index.ts'
import {
  type BrokerUnderTest,
  message,
  untilConfirmed,
} from '../packages/counterfoil/src/transports/conformance.ts'
import { NatsBroker } from '../packages/counterfoil/src/transports/fixtures/nats-broker.ts'
import { RedisBroker } from '../packages/counterfoil/src/transports/fixtures/redis-broker.ts'
import { withProgram } from '../packages/counterfoil/src/transports/fixtures/with-program.ts'
import { brokerProgram, type Places } from './fixtures/broker-program.ts'

/** The whole way with real servers: message in, receipt, plan, effect, message out; each in a transaction of its own. */

const customers = ['ann', 'bob', 'cia', 'dan']
const each = 12

interface Case {
  readonly name: string
  readonly program: string
  readonly deduplicates: boolean
  readonly start: () => Promise<{ broker: BrokerUnderTest; server: string }>
}

const cases: Case[] = [
  {
    name: 'nats',
    program: 'nats-server',
    deduplicates: true,
    start: async () => {
      const broker = await NatsBroker.start()
      return { broker, server: broker.servers.servers }
    },
  },
  {
    name: 'redis',
    program: 'redis-server',
    deduplicates: false,
    start: async () => {
      const broker = await RedisBroker.start(null)
      return { broker, server: broker.url }
    },
  },
]

for (const { program, ...one } of cases) withProgram(program, () => between(one))

function between({ name, deduplicates, start }: Omit<Case, 'program'>): void {
  describe(`a program between two places of ${name}`, () => {
    let broker: BrokerUnderTest
    let server: string
    const directory = mkdtempSync(join(tmpdir(), 'counterfoil-brokers-'))
    before(async () => {
      ;({ broker, server } = await start())
    })
    after(async () => {
      await broker.dispose()
      rmSync(directory, { recursive: true, force: true })
    })

    test('the broker is killed in the middle: every message leads to one effect, which is there in its turn', async () => {
      const places: Places = { broker: name, server, from: await broker.place(), to: await broker.place() }
      const path = join(directory, 'middle.db')
      const app = brokerProgram(places, sqlite(path))
      await app.start()
      const publisher = broker.publisher()
      const sent: string[] = []
      for (let version = 1; version <= each; version++) {
        for (const customer of customers) {
          const id = `evt_${customer}_${version}`
          await untilConfirmed(publisher, message(places.from, { id, data: { customer, version } }))
          sent.push(id)
        }
        if (version === Math.ceil(each / 3)) {
          // In the middle of what is sent, taken in, and sent on.
          await broker.kill()
          await broker.restart()
        }
      }
      await publisher.close()
      await until(async () => (await app.store.status()).effects.byState.confirmed === sent.length)
      const effects = await app.store.listEffects({ limit: 1_000 })
      const receipts = await app.store.listReceipts({ limit: 1_000 })
      await app.stop()

      assert.deepEqual(receipts.map(({ eventId }) => eventId).sort(), [...sent].sort())
      assert.ok(receipts.every(({ namespace, source }) => namespace === 'orders' && source === '/tests'))
      const there = await broker.stored(places.to)
      const keys = new Map(
        effects.map(({ idempotencyKey, key }) => [idempotencyKey as string, key as string]),
      )
      assert.equal(keys.size, sent.length)
      for (const customer of customers) {
        const own = there.map(({ id }) => keys.get(id)!).filter((key) => key.startsWith(`note/${customer}/`))
        const first = own.filter((key, index) => own.indexOf(key) === index)
        const wanted = Array.from({ length: each }, (_, n) => `note/${customer}/${n + 1}`)
        assert.deepEqual(first, wanted)
        if (deduplicates) assert.deepEqual(own, wanted)
      }
      const bodies = new Map<string, string>()
      for (const { id, body } of there) {
        assert.equal(bodies.get(id) ?? JSON.stringify(body), JSON.stringify(body), 'copies are the same')
        bodies.set(id, JSON.stringify(body))
      }
    })

    test('the program is killed between the commit of a receipt and its acknowledgement: one receipt, one effect', async () => {
      const places: Places = { broker: name, server, from: await broker.place(), to: await broker.place() }
      const path = join(directory, 'killed.db')
      const publisher = broker.publisher()
      await untilConfirmed(
        publisher,
        message(places.from, { id: 'evt_once', data: { customer: 'kim', version: 1 } }),
      )
      await publisher.close()
      const struck = run(places, path, 'strike')
      assert.deepEqual(await ended(struck), [null, 'SIGKILL'])
      const looking = sqlite(path)
      await looking.open({ migrate: false })
      const [first, ...others] = await looking.listReceipts({ limit: 10 })
      assert.deepEqual([first?.eventId, first?.duplicates, others.length], ['evt_once', 0, 0])
      const next = run(places, path, 'live')
      let seen: ReceiptView | undefined
      await until(async () => {
        seen = (await looking.listReceipts({ limit: 10 }))[0]
        return seen?.duplicates === 1 && seen.state === 'planned'
      })
      await until(async () => (await looking.listEffects({ limit: 2 }))[0]?.state === 'confirmed')
      assert.equal((await looking.listReceipts({ limit: 10 })).length, 1)
      next.kill('SIGTERM')
      await ended(next)
      await looking.close()
      assert.equal((await broker.stored(places.to)).length, 1)
    })

    test('what can be no delivery is put aside, and what can start no work waits in quarantine', async () => {
      const places: Places = { broker: name, server, from: await broker.place(), to: await broker.place() }
      const app = brokerProgram(places, sqlite(join(directory, 'poison.db')))
      await app.start()
      const publisher = broker.publisher()
      const { event, ...rest } = message(places.from, { data: 1 })
      // No source: no identity by CloudEvents.
      const { source: _, ...poison } = event
      await untilConfirmed(publisher, { ...rest, event: poison as never })
      const other = message(places.from, { id: 'evt_other', data: 'not what the schema wants' })
      await untilConfirmed(publisher, other)
      const good = message(places.from, { id: 'evt_good', data: { customer: 'lee', version: 1 } })
      await untilConfirmed(publisher, good)
      await publisher.close()
      await until(async () => (await app.store.status()).effects.byState.confirmed === 1)
      await until(async () => (await broker.putAside(places.from)).length === 1)
      const { entries } = await app.store.listQuarantine({ limit: 10 })
      assert.deepEqual(
        entries.map(({ eventId, reason }) => [eventId, reason]),
        [['evt_other', 'schema-failure']],
      )
      assert.deepEqual(await broker.putAside(places.from), [{ id: rest.id, body: 1 }])
      assert.equal(app.counters.get('orders syntax_invalid'), 1)
      await app.stop()
    })
  })
}

function run(places: Places, path: string, how: 'strike' | 'live'): ChildProcess {
  const program = join(import.meta.dirname, 'fixtures/broker-program-main.ts')
  return spawn(
    process.execPath,
    ['--conditions=counterfoil:source', program, JSON.stringify(places), path, how],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
}

async function ended(child: ChildProcess): Promise<readonly [number | null, NodeJS.Signals | null]> {
  if (child.exitCode !== null || child.signalCode !== null) return [child.exitCode, child.signalCode]
  return await new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])))
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.fail('it did not come to that within a minute')
}
