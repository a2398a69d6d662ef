import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, test } from 'node:test'
import { type Contract, type Network, recipient, trigger } from 'counterfoil'
import { type GuardOptions, guard, sqliteGuardStore } from 'counterfoil/guard'
import { z } from 'zod'
import { disposeWorlds, standard, World } from './world.ts'

const minute = 60_000
type Fault = 'none' | 'lost-answer' | 'stalled' | 'lost-request'

/** The engine that ships, sending to a real guard over a network that loses and holds back. */
class GuardedService {
  readonly world: World
  readonly #directory = mkdtempSync(join(tmpdir(), 'counterfoil-guarded-'))
  readonly #db = new DatabaseSync(join(this.#directory, 'service.db'))
  /** Requests that are still under way; each lands when it is called. */
  readonly stalled: (() => Promise<number>)[] = []

  constructor(about: {
    readonly guard?: Partial<GuardOptions<DatabaseSync, 'sync'>>
    readonly contract?: (published: Contract) => Contract
    readonly fault?: (attempt: number) => Fault | Promise<Fault>
  }) {
    this.#db.exec(
      'create table act (seat text not null, version integer) strict; create table account (id integer primary key, version integer not null) strict',
    )
    const world = new World({
      shape: 'neither',
      configure: () => {
        const { contract, network } = this.#service(about)
        const seats = recipient('guarded', { url: 'http://seats.test', contract, timeout: '5s' })
        const open = seats.effect('seat.open', {
          payload: z.object({ seat: z.string() }),
          request: (payload) => ({ method: 'POST', path: '/seats', body: payload }),
        }) as any
        const paid = standard.event('invoice.paid', {
          schema: z.object({ id: z.string(), version: z.number().optional() }),
        })
        const plan = trigger('open a guarded seat', {
          on: paid,
          plan: ({ data: { id, version } }, { effect }) =>
            effect(open, {
              key: `seat/${id}`,
              payload: { seat: id },
              ...(version === undefined ? {} : { order: { domain: 'account/1', version } }),
            } as any),
        })
        // The hints do the work; a rarer poll is less to simulate.
        return { triggers: [plan], recipients: [seats], network, poll: '10m' }
      },
    })
    this.world = world
    services.add(this)
  }

  #service({ guard: options, contract, fault }: ConstructorParameters<typeof GuardedService>[0]) {
    const { clock } = this.world
    const own = guard({
      store: sqliteGuardStore(this.#db, { clock }),
      clock,
      caller: () => 'counterfoil',
      remembersFor: '30d',
      ...options,
    })
    const migrated = own.migrate()
    const receive = async ({ url, method, headers, body }: Parameters<Network['send']>[0]) => {
      await migrated
      const request = () =>
        new Request(url, { method, headers, ...(body === null ? {} : { body: body as never }) })
      const response =
        (await own.serve(request())) ??
        (await own.handle(request(), ({ tx, json, order }) => {
          tx.prepare('insert into act (seat, version) values (?, ?)').run(json().seat, order?.version ?? null)
          if (order !== null)
            tx.prepare('insert or replace into account (id, version) values (1, ?)').run(order.version)
          return { status: 201, json: { open: true } }
        }))
      const bytes = new Uint8Array(await response.arrayBuffer())
      return {
        kind: 'answered' as const,
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: bytes,
      }
    }
    let attempts = 0
    const network: Network = {
      async close() {},
      send: async (request) => {
        const isAttempt = request.url.pathname === '/seats'
        const met = isAttempt ? ((await fault?.(attempts++)) ?? 'none') : 'none'
        if (met === 'none') return await receive(request)
        if (met === 'lost-answer') await receive(request)
        if (met === 'stalled') this.stalled.push(async () => (await receive(request)).status)
        return await new Promise((resolve) => {
          clock.after(request.timeoutMs, () => resolve({ kind: 'unclear', why: 'no answer in time' }))
        })
      },
    }
    return { network, contract: contract?.(own.contract) ?? own.contract }
  }

  acts(): unknown[] {
    return this.#db
      .prepare('select seat from act')
      .all()
      .map(({ seat }) => seat)
  }

  version(): unknown {
    return this.#db.prepare('select version from account').get()?.version
  }

  async effect(key: string) {
    const effects = await this.world.app.store.listEffects({ limit: 10 })
    const found = effects.find((effect) => effect.key === key)
    assert.ok(found)
    return found
  }

  dispose(): void {
    this.#db.close()
    rmSync(this.#directory, { recursive: true })
  }
}

const services = new Set<GuardedService>()
afterEach(async () => {
  await disposeWorlds()
  for (const service of services) service.dispose()
  services.clear()
})

const first = (fault: Fault) => (attempt: number) => (attempt === 0 ? fault : 'none')

describe('an engine that reads the published contract ends every fault with one act', () => {
  const guards = {
    'that keeps keys': {},
    'that bounds travel': { acceptsFor: '30s' },
    'that forgets keys': { forgetKeys: true, acceptsFor: '30s' },
  } as const
  for (const [name, options] of Object.entries(guards)) {
    for (const fault of ['none', 'lost-answer', 'lost-request', 'stalled'] as const) {
      test(`${fault} at a guard ${name}`, async () => {
        const service = new GuardedService({ guard: options, fault: first(fault) })
        await service.world.start()
        await service.world.deliver('481')
        await service.world.settle(26 * 60 * minute)
        for (const land of service.stalled) await land()
        assert.equal((await service.effect('seat/481')).state, 'confirmed')
        assert.deepEqual(service.acts(), ['481'])
      })
    }
  }
})

/** What is left of a guard whose answers nobody may repeat for: only lookups and tombstones can tell. */
const noRepeats = (published: Contract): Contract => ({
  ...published,
  idempotency: { ...published.idempotency!, replays: 'nothing', marker: undefined } as never,
})
const { parse, stringify } = JSON
/** Without members that are undefined, as it would be read from JSON. */
const plain = (contract: Contract): Contract => parse(stringify(contract))

describe('the stalled request', () => {
  test('a lookup that finds absence final lets it be attempted again, and what was held back lands in vain', async () => {
    const landed: number[] = []
    const service: GuardedService = new GuardedService({
      guard: { acceptsFor: '30s' },
      contract: (published) => plain(noRepeats(published)),
      async fault(attempt) {
        if (attempt === 0) return 'stalled'
        // It lands at the worst moment: after the lookup called it absent, and before the next attempt.
        for (const land of service.stalled.splice(0)) landed.push(await land())
        return 'none'
      },
    })
    await service.world.start()
    await service.world.deliver('481')
    await service.world.settle(26 * 60 * minute)
    assert.deepEqual(landed, [422])
    const effect = await service.effect('seat/481')
    assert.deepEqual([effect.state, effect.attempts.length, effect.disputed], ['confirmed', 2, false])
    assert.deepEqual(service.acts(), ['481'])
    assert.ok(effect.evidence.some(({ fact }) => fact === 'absenceFinal'))
  })

  test('without a bound absence stays a hint: nothing is sent again, and the key is closed in the end', async () => {
    const service = new GuardedService({
      contract: (published) => plain(noRepeats(published)),
      fault: first('stalled'),
    })
    await service.world.start()
    await service.world.deliver('481')
    await service.world.settle(20 * 60 * minute)
    assert.equal((await service.effect('seat/481')).state, 'unknown')
    await service.world.settle(30 * 60 * minute)
    const effect = await service.effect('seat/481')
    assert.deepEqual([effect.state, effect.attempts.length], ['withdrawn', 1])
    for (const land of service.stalled) assert.equal(await land(), 412)
    assert.deepEqual(service.acts(), [])
  })
})

describe('the tombstone', () => {
  const closesAtOnce = (published: Contract): Contract => {
    const { lookup: _, ...rest } = noRepeats(published)
    return plain(rest)
  }

  test('an unknown effect is closed at the recipient and withdrawn; the stalled request never acts', async () => {
    const service = new GuardedService({ contract: closesAtOnce, fault: first('stalled') })
    await service.world.start()
    await service.world.deliver('481')
    await service.world.settle(60 * minute)
    const effect = await service.effect('seat/481')
    assert.equal(effect.state, 'withdrawn')
    assert.deepEqual(
      effect.evidence.map(({ kind, fact }) => [kind, fact]),
      [['tombstone', 'tombstoned']],
    )
    for (const land of service.stalled) assert.equal(await land(), 412)
    assert.deepEqual(service.acts(), [])
  })

  test('one that had acted is confirmed by the stored answer', async () => {
    const service = new GuardedService({ contract: closesAtOnce, fault: first('lost-answer') })
    await service.world.start()
    await service.world.deliver('481')
    await service.world.settle(60 * minute)
    const effect = await service.effect('seat/481')
    assert.deepEqual([effect.state, effect.evidence.at(-1)?.fact], ['confirmed', 'foundActed'])
    assert.deepEqual(service.acts(), ['481'])
  })
})

describe('the fence', () => {
  test('an old event that comes after a newer one ends fenced, and the state does not go back (C06)', async () => {
    const service = new GuardedService({})
    await service.world.start()
    await service.world.deliver('new', { id: 'new', version: 2 })
    await service.world.settle(minute)
    await service.world.deliver('old', { id: 'old', version: 1 })
    await service.world.settle(60 * minute)
    assert.equal((await service.effect('seat/new')).state, 'confirmed')
    assert.equal((await service.effect('seat/old')).state, 'fenced')
    assert.deepEqual([service.acts(), service.version()], [['new'], 2])
  })

  test('an old request that was held back lands after a newer one in vain', async () => {
    const service = new GuardedService({ guard: { acceptsFor: '30s' }, fault: first('stalled') })
    await service.world.start()
    await service.world.deliver('old', { id: 'old', version: 1 })
    await service.world.run(100, () => service.stalled.length === 1)
    await service.world.deliver('new', { id: 'new', version: 2 })
    await service.world.run(10_000, async () => service.version() === 2)
    for (const land of service.stalled) assert.equal(await land(), 412)
    await service.world.settle(26 * 60 * minute)
    assert.equal((await service.effect('seat/old')).state, 'fenced')
    assert.deepEqual([service.acts(), service.version()], [['new'], 2])
  })
})
