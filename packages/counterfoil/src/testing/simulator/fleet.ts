import { Life, streamOf } from './life.ts'
import { Operators } from './operators.ts'
import type { FleetWorld, Running } from './running.ts'
import { storePort } from './store-port.ts'
import { busyMs } from './workload.ts'

const minute = 60_000
const polls = ['10s', '20s', '60s'] as const
const pausesMs = [400, 3_000, 11_000, 14_000, 40_000, 150_000] as const
/** Long enough that keys are nearly, just and long forgotten. */
const gapsMs = [
  4 * minute,
  10 * minute,
  50 * minute,
  58 * minute,
  65 * minute,
  180 * minute,
  1_500 * minute,
] as const
/** Most that a clock here is off: what guards and contracts allow for together (docs/simulator.md). */
const skewMs = 2_400

/** The processes of one schedule on one store: they start, die, pause, have their clocks set, and are replaced. */
export class Fleet {
  readonly operators: Operators
  /** How long faults strike. */
  readonly busyMs: number
  readonly #world: FleetWorld
  readonly #running: (Running | undefined)[]
  /** Which version each process starts next. */
  readonly #versions: (1 | 2)[]
  #lives = 0
  #awayUntil = 0
  #ended = false

  constructor(world: FleetWorld) {
    this.#world = world
    const { draws } = world
    const count = 2 + draws.below(2, 'workers', 0)
    this.#running = new Array(count).fill(undefined)
    this.#versions = new Array(count).fill(1)
    const gap = draws.chance(0.35, 'gap', 0) ? draws.pick(gapsMs, 'gap', 1) : 0
    this.busyMs = busyMs + 20_000 + gap
    this.operators = new Operators({ ...world, fleet: this })
  }

  begin(): void {
    const { timeline, draws } = this.#world
    for (const process of this.#running.keys()) this.#start(process)
    const events = 2 + draws.below(4, 'processFault', 0)
    for (let n = 1; n <= events; n++)
      timeline.after(draws.below(busyMs, 'processTime', n), null, () => this.#strike(n))
    if (this.busyMs > busyMs + 20_000) this.#planGap()
    this.operators.plan()
  }

  /** The processes that run and are not paused, in their order. */
  ready(): readonly Running[] {
    const { now } = this.#world.timeline
    return this.#running.filter((one) => one !== undefined && one.life.pausedUntil <= now) as Running[]
  }

  /** Faults are over: everyone runs. */
  calm(): void {
    this.#awayUntil = 0
    for (const [process, running] of this.#running.entries()) {
      if (running === undefined) this.#start(process)
      else running.life.pausedUntil = 0
    }
  }

  end(): void {
    this.#ended = true
    for (const running of this.#running) {
      if (running === undefined) continue
      running.life.alive = false
      // A transaction that one of them had open would keep everybody else from reading what came of it all.
      running.abandon()
    }
  }

  crash(life: Life): void {
    const running = this.#running[life.process]
    if (!life.alive || running?.life !== life) return
    const { timeline, draws } = this.#world
    life.alive = false
    running.abandon()
    this.#running[life.process] = undefined
    this.#note(life.process, 'dies')
    const downMs = draws.pick([200, 1_500, 6_000, 12_000, 30_000], 'processPick', life.number, 1)
    timeline.after(Math.max(downMs, this.#awayUntil - timeline.now), null, () => this.#start(life.process))
  }

  #start(process: number): void {
    const { timeline, draws, faults, bench, internet, configs } = this.#world
    if (this.#ended || this.#running[process] !== undefined || timeline.now < this.#awayUntil) return
    const number = this.#lives++
    let offsetMs = 0
    if (
      draws.chance(0.4, 'skew', number) &&
      faults.strike('clock skew', `skew/${number}`, `process ${process}`)
    )
      offsetMs = Math.round((draws.fraction('skew', number, 1) * 2 - 1) * skewMs)
    const life = new Life(timeline, { process, number, offsetMs })
    const handle = bench.database.handle()
    const random = streamOf(draws.bits('random', number))
    const config = configs[this.#versions[process]!]
    const app = config.withPorts({
      store: storePort(handle.store, life, {
        timeline,
        draws,
        faults,
        withoutRoom: (call) => bench.withoutRoom(call),
        crash: (dying) => this.crash(dying),
      }),
      clock: life.clock,
      random,
      network: internet.of(life),
      log: (level, message, fields = {}) => {
        const entry = { kind: 'logged', process, level, message, fields } as const
        this.#world.record({ at: timeline.now, ...entry })
      },
      onAlert: ({ reason, quarantine, effect }) =>
        this.#world.record({ at: timeline.now, kind: 'alerted', reason, quarantine, effect }),
      triggers: config.triggers,
      recipients: [...config.recipients.values()],
      version: `v${this.#versions[process]}`,
      poll: draws.pick(polls, 'poll', number),
      vault: bench.vault,
    })
    this.#running[process] = { life, app, abandon: () => handle.abandon() }
    this.#note(process, `starts with version ${this.#versions[process]}`)
    void app.start()
  }

  #strike(n: number): void {
    const { draws, timeline, faults } = this.#world
    const process = draws.below(this.#running.length, 'processPick', n)
    const running = this.#running[process]
    if (running === undefined) return
    const { life } = running
    const name = `process ${process}`
    const roll = draws.fraction('processFault', n)
    if (roll < 0.3) {
      if (faults.strike('crash', `process/${n}`, name)) this.crash(life)
    } else if (roll < 0.55) {
      if (!faults.strike('pause', `process/${n}`, name)) return
      const ms = draws.pick(pausesMs, 'processTime', n, 1)
      life.pausedUntil = timeline.now + ms
      this.#note(process, `is paused for ${ms} ms`)
    } else if (roll < 0.75) {
      if (!faults.strike('clock step', `process/${n}`, name)) return
      life.offsetMs = this.#steppedOffset(n)
      this.#note(process, `has its clock set to ${life.offsetMs} ms ahead`)
    } else if (faults.strike('deploy', `process/${n}`, name)) {
      this.#deploy(running)
    }
  }

  /** Far only where no promise is read off two clocks within minutes. */
  #steppedOffset(n: number): number {
    const { draws, promises } = this.#world
    const isWide = [...promises.values()].every(
      ({ lookup, fences, remembersMs }) =>
        (lookup === null || lookup.finalAfterMs === null) &&
        !fences &&
        (remembersMs === 0 || remembersMs > 30 * minute),
    )
    return Math.round((draws.fraction('processTime', n, 2) * 2 - 1) * (isWide ? 60_000 : skewMs))
  }

  /** Stops as a deployment does, draining, and starts with the second version of the triggers. */
  #deploy({ life, app }: Running): void {
    this.#versions[life.process] = 2
    this.#note(life.process, 'is asked to stop for a deployment')
    const { timeline } = this.#world
    // Who does not stop in time is killed.
    const cancel = timeline.after(25_000, null, () => this.crash(life))
    void app.stop().then(() => {
      cancel()
      if (!life.alive) return
      life.alive = false
      this.#running[life.process] = undefined
      this.#start(life.process)
      if (this.#running[life.process] === undefined)
        timeline.after(1_000, null, () => this.#start(life.process))
    })
  }

  /** Everyone is away for a long time, which is when keys are forgotten. */
  #planGap(): void {
    const { timeline, draws, faults } = this.#world
    const at = 5_000 + draws.below(busyMs - 5_000, 'gap', 2)
    timeline.after(at, null, () => {
      if (!faults.strike('all away', 'gap', 'every process')) return
      this.#awayUntil = timeline.now + this.busyMs - busyMs - 20_000
      for (const running of this.#running) if (running !== undefined) this.crash(running.life)
      const back = this.#awayUntil - timeline.now
      for (const process of this.#running.keys()) timeline.after(back, null, () => this.#start(process))
    })
  }

  #note(process: number, what: string): void {
    this.#world.record({ at: this.#world.timeline.now, kind: 'process', process, what })
  }
}
