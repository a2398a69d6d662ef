import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { KeyedRecipient } from './fixtures/keyed-recipient.ts'
import { DemoProcesses, github, type Place } from './processes.ts'

const config = join(import.meta.dirname, 'fixtures/quarantine.config.ts')
const tokens = { olga: 'the token of olga the operator', abe: 'the token of abe the approver' }
/** Items of the source, by what becomes of them. */
const source = {
  new: 1_200,
  duplicate: 60,
  conflicting: 20,
  unsupported: 15,
  schemaFailure: 10,
  malformed: 5,
}
const rate = 400

interface Shown {
  readonly backfill: {
    readonly state: string
    readonly plan: { readonly digest: string; readonly counts: Record<string, number> }
    readonly run: { readonly items: number; readonly chunks: number; readonly counts: Record<string, number> }
    readonly progress: { readonly items: number; readonly of: number; readonly leftMs: number | null }
  }
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 3_600; looks++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  assert.fail(`in ninety seconds it never came to this: ${what}`)
}

/** Live deliveries that come all the while, each sent until it is acknowledged. */
class LiveTraffic {
  readonly acknowledged = new Set<number>()
  readonly #processes: DemoProcesses
  #stopped = false
  #sending: Promise<void>[] = []

  constructor(processes: DemoProcesses) {
    this.#processes = processes
  }

  start(): void {
    this.#sending = [0, 1].map((sender) => this.#send(sender))
  }

  async stop(): Promise<number> {
    this.#stopped = true
    await Promise.all(this.#sending)
    return this.acknowledged.size
  }

  async #send(sender: number): Promise<void> {
    for (let number = 1_000_000 + sender; !this.#stopped; number += 2) {
      while (!(await this.#deliver(number))) await new Promise((resolve) => setTimeout(resolve, 50))
      this.acknowledged.add(number)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  #deliver(number: number): Promise<boolean> {
    return fetch(`${this.#processes.url}/in/github`, github('issues', `live-${number}`, { number })).then(
      ({ ok }) => ok,
      () => false,
    )
  }
}

/** A backfill that the program's own processes take in, while they are killed and live deliveries come. */
export function backfillByProcesses(place: Place): void {
  describe('a backfill in server processes', () => {
    test('killed -9 three times, with live traffic: its report is exact, and each effect is caused once', async () => {
      const recipient = new KeyedRecipient()
      await recipient.start()
      const processes = new DemoProcesses({ config })
      Object.assign(processes.environment, {
        COUNTERFOIL_DEMO_RECIPIENT: recipient.url,
        COUNTERFOIL_OPERATORS: `olga:operator:${tokens.olga},abe:approver:${tokens.abe}`,
        DEPLOYED: 'trigger',
        ALERTS: 'off',
        ...place.environment(),
      })
      await processes.startServer()
      const store = place.store(processes)
      await store.open({ migrate: false })
      try {
        await received(processes)
        const plan = await planned(processes)
        assert.deepEqual(plan.counts, { ...nothing, ...source })
        const early = await api(processes, 'march/run', 'olga', { reason: 'r', decision: 'd-0' })
        assert.deepEqual([early.status, early.body.code], [409, 'backfill_state'])
        const asked = { digest: plan.digest, reason: 'lost in an outage', decision: 'd-1' }
        assert.equal((await api(processes, 'march/approve', 'olga', asked)).status, 403)
        const strict = await api(processes, 'march/approve', 'abe', asked)
        assert.deepEqual([strict.status, strict.body.code], [409, 'backfill_malformed'])
        const approval = { ...asked, acceptMalformed: true }
        assert.equal((await api(processes, 'march/approve', 'abe', approval)).status, 200)

        const live = new LiveTraffic(processes)
        live.start()
        const run = { rate, reason: 'approved', decision: 'd-2' }
        assert.equal((await api(processes, 'march/run', 'olga', run)).status, 200)
        assert.equal((await api(processes, 'march/run', 'olga', run)).body.repeated, true)
        const items = async () => (await store.showBackfill('march'))?.run.items ?? 0
        for (const wanted of [100, 400, 800]) {
          await until(`${wanted} items are taken in`, async () => (await items()) >= wanted)
          await processes.killServer()
          assert.equal((await store.showBackfill('march'))?.state, 'running')
          await processes.startServer()
        }
        await until('it is done', async () => (await store.showBackfill('march'))?.state === 'done')
        const liveCount = await live.stop()

        const { backfill } = await processes.counterfoil<Shown>('backfill', 'show', 'march')
        const total = Object.values(source).reduce((sum, count) => sum + count, 0)
        assert.deepEqual([backfill.run.items, backfill.run.counts], [total, { ...nothing, ...source }])
        const tickets = known + source.new + liveCount
        await until('every ticket is opened', () => recipient.at('/tickets').length >= tickets)
        await until('nothing moves any more', async () => {
          const { outbox, effects } = await store.status()
          const { planned: waiting, attempting, unknown } = effects.byState
          return waiting + attempting + unknown === 0 && outbox.waiting === 0
        })
        const issues = recipient.at('/tickets').map(({ body }) => body.issue as number)
        assert.equal(issues.length, tickets)
        assert.equal(new Set(issues).size, tickets)
        for (const number of live.acknowledged) assert.ok(issues.includes(number), `live ${number} acted`)
        const { receipts, effects } = await store.status()
        assert.equal(effects.total, tickets)
        const quarantined = source.conflicting + source.unsupported + source.schemaFailure
        assert.deepEqual([receipts.byState.planned, receipts.byState.quarantined], [tickets, quarantined])
        const { audit } = await processes.counterfoil<{ audit: { act: string }[] }>('audit', 'list')
        assert.deepEqual(audit.map(({ act }) => act).sort(), ['backfill.approve', 'backfill.run'])
      } finally {
        await store.close()
        await processes.dispose()
        await recipient.stop()
      }
    })
  })
}

/** Live events that the source holds too, and whose ids it holds with other content. */
const known = source.duplicate + source.conflicting
const nothing = { notRepresentable: 0, beyondRetention: 0, refused: 0 }

async function received(processes: DemoProcesses): Promise<void> {
  for (let number = 0; number < known; number++) {
    const response = await fetch(`${processes.url}/in/github`, github('issues', `old-${number}`, { number }))
    assert.equal(response.status, 202)
  }
}

async function planned(processes: DemoProcesses): Promise<Shown['backfill']['plan']> {
  const line = (id: string, payload: unknown, type = 'issues') =>
    JSON.stringify({ headers: { 'X-GitHub-Event': type, 'X-GitHub-Delivery': id }, payload })
  const count = (many: number, make: (index: number) => string) =>
    Array.from({ length: many }, (_, i) => make(i))
  const lines = [
    ...count(source.duplicate, (index) => line(`old-${index}`, { number: index })),
    ...count(source.conflicting, (index) => line(`old-${source.duplicate + index}`, { number: -1 })),
    ...count(source.new, (index) => line(`new-${index}`, { number: 1_000 + index })),
    ...count(source.unsupported, (index) => line(`odd-${index}`, { odd: index }, 'odd')),
    ...count(source.schemaFailure, (index) => line(`unfit-${index}`, { number: String(index) })),
    ...count(source.malformed, () => '{"headers":'),
  ]
  // Mixed, the same way each time.
  const mixed = lines.map((text, index) => ({ text, place: (index * 7_919) % lines.length }))
  const path = join(processes.directory, 'march.jsonl')
  writeFileSync(
    path,
    mixed
      .sort((a, b) => a.place - b.place)
      .map(({ text }) => `${text}\n`)
      .join(''),
  )
  const plan = ['backfill', 'plan', 'march', '--from', path, '--producer', 'github', '--operator', 'olga']
  // Exit code 1: it found lines that cannot be read.
  const { stdout } = await processes
    .counterfoil(...plan)
    .then(() => assert.fail('malformed lines are a problem'))
    .catch((error: { code: number; stdout: string }) => error)
  return (JSON.parse(stdout) as Shown).backfill.plan
}

async function api(processes: DemoProcesses, path: string, who: keyof typeof tokens, body: object) {
  const response = await fetch(`${processes.url}/api/v1/backfills/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens[who]}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as any }
}
