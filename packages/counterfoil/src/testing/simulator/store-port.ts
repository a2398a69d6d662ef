import { CounterfoilError } from '../../domain/index.ts'
import { type PlanSession, readingCalls, type Store } from '../../store/index.ts'
import type { Draws } from './draws.ts'
import type { FaultKind, Faults } from './faults.ts'
import { type Life, never } from './life.ts'
import type { Timeline } from './timeline.ts'

/** What happens to one call of the store, and how often in a hundred thousand calls. */
const writeFaults: readonly (readonly [FaultKind, number])[] = [
  ['commit made, not told', 6_000],
  ['commit lost, not told', 6_000],
  ['slow store', 6_000],
  ['slow answer of the store', 6_000],
  ['store busy', 4_000],
  ['disk full', 4_000],
  ['crash before a store call', 1_800],
  ['crash after a store call', 2_600],
  ['pause before a store call', 2_400],
]
const readFaults: readonly (readonly [FaultKind, number])[] = [
  ['slow store', 6_000],
  ['store busy', 4_000],
]
/** Past the lease of whatever it was about to write, mostly. */
const pausesMs = [3_000, 11_000, 14_000, 40_000] as const
const waitsMs = [20, 200, 900, 2_500, 11_000, 25_000] as const

const passing = new Set<PropertyKey>(['kind', 'location', 'open', 'close', 'watch', 'examine'])

export interface StorePortWorld {
  readonly timeline: Timeline
  readonly draws: Draws
  readonly faults: Faults
  /** Runs one call while the disk has room for nothing new. */
  withoutRoom<Result>(call: () => Promise<Result>): Promise<Result>
  crash(life: Life): void
}

/**
 * The store as one process reaches it: every call takes its time, may meet a fault, and is not answered to the dead. What
 * is called is the store that ships.
 */
export function storePort(real: Store, life: Life, world: StorePortWorld): Store {
  const calls = new Calls(life, world)
  return new Proxy(real, {
    get(target, name: keyof Store & string) {
      const member = target[name]
      if (typeof member !== 'function' || passing.has(name)) {
        return typeof member === 'function' ? member.bind(target) : member
      }
      if (name === 'beginPlan') {
        return async (limits: { timeoutMs: number }) =>
          sessionPort(await calls.make(name, () => target.beginPlan(limits)), calls)
      }
      return (...parameters: unknown[]) =>
        calls.make(name, () => (member as (...p: unknown[]) => Promise<unknown>).apply(target, parameters))
    },
  })
}

function sessionPort(session: PlanSession, calls: Calls): PlanSession {
  return {
    run: (sql, ...parameters) => calls.make('statement', () => session.run(sql, ...parameters)),
    get: (sql, ...parameters) => calls.make('statement', () => session.get(sql, ...parameters)),
    all: (sql, ...parameters) => calls.make('statement', () => session.all(sql, ...parameters)),
    commit: (plan) => calls.make('commit', () => session.commit(plan)),
    rollback: () => calls.make('rollback', () => session.rollback()),
  }
}

class Calls {
  readonly #life: Life
  readonly #world: StorePortWorld
  #count = 0

  constructor(life: Life, world: StorePortWorld) {
    this.#life = life
    this.#world = world
  }

  make<Result>(name: string, perform: () => Promise<Result>): Promise<Result> {
    const life = this.#life
    if (!life.alive) return never()
    const { draws, timeline } = this.#world
    const nth = this.#count++
    const fault = this.#faultOf(name, nth)
    if (fault === 'pause before a store call')
      life.pausedUntil = timeline.now + draws.pick(pausesMs, 'storePick', life.number, nth)
    const slow = fault === 'slow store' ? draws.pick(waitsMs, 'storePick', life.number, nth) : 0
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        if (!life.alive) return
        const late = fault === 'slow answer of the store'
        if (late) timeline.after(draws.pick(waitsMs, 'storePick', life.number, nth), life, end)
        else end()
      }
      timeline.after(slow + draws.below(4, 'storeWait', life.number, nth), life, () => {
        void this.#perform(fault, perform).then(
          (value) => settle(() => resolve(value)),
          (error: unknown) => settle(() => reject(error)),
        )
      })
    })
  }

  async #perform<Result>(fault: FaultKind | null, perform: () => Promise<Result>): Promise<Result> {
    const { withoutRoom, crash } = this.#world
    switch (fault) {
      case 'crash before a store call':
        crash(this.#life)
        return await never()
      case 'crash after a store call':
        await perform()
        crash(this.#life)
        return await never()
      case 'commit lost, not told':
        throw unknown()
      case 'commit made, not told':
        await perform()
        throw unknown()
      case 'store busy':
        throw new CounterfoilError('store_busy', 'simulated: another process holds the store')
      case 'disk full':
        return await withoutRoom(perform)
      default:
        return await perform()
    }
  }

  #faultOf(name: string, nth: number): FaultKind | null {
    const { draws, faults } = this.#world
    if (faults.over) return null
    const { number } = this.#life
    let roll = draws.below(100_000, 'storeFault', number, nth)
    for (const [kind, share] of readingCalls.has(name) ? readFaults : writeFaults) {
      roll -= share
      if (roll >= 0) continue
      // A lost rollback is a transaction that stays open until its time is over; a statement commits nothing.
      if (name === 'rollback' || (name === 'statement' && /^(commit|pause)/.test(kind))) return null
      const about = `process ${this.#life.process}: ${name}`
      return faults.strike(kind, `store/${number}/${nth}`, about) ? kind : null
    }
    return null
  }
}

function unknown(): CounterfoilError {
  return new CounterfoilError('commit_unknown', 'simulated: the commit may or may not have happened')
}
