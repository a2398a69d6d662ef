import { codeOf } from '../../domain/index.ts'
import { assign, dismiss, reprocess } from '../../operate/index.ts'
import type { QuarantineView } from '../../store/index.ts'
import type { FleetWorld, Ready } from './running.ts'
import { busyMs } from './workload.ts'

const operator = { name: 'ada', role: 'approver' } as const

/** People who work off quarantine in the middle of it all, on views that may be old, and sometimes twice. */
export class Operators {
  readonly #world: FleetWorld & { readonly fleet: Ready }
  #seen: QuarantineView[] = []

  constructor(world: FleetWorld & { readonly fleet: Ready }) {
    this.#world = world
  }

  plan(): void {
    const { timeline, draws } = this.#world
    const turns = draws.below(4, 'operator', 0)
    for (let n = 1; n <= turns; n++) {
      const at = 10_000 + draws.below(busyMs + 10_000, 'operator', n)
      timeline.after(at, null, () => void this.#turn(n))
    }
  }

  async #turn(n: number): Promise<void> {
    const { draws, fleet, faults } = this.#world
    const [on] = fleet.ready()
    if (on === undefined) return
    try {
      // What was seen an hour ago is decided on as well.
      const isOld = this.#seen.length > 0 && draws.chance(0.4, 'operator', n, 1)
      if (!isOld)
        this.#seen = [...(await on.app.store.listQuarantine({ limit: 20, state: 'waiting' })).entries]
    } catch {
      return
    }
    const entry = this.#seen[draws.below(this.#seen.length, 'operatorPick', n)]
    if (entry === undefined) return
    if (!faults.strike('operator decides', `operator/${n}`, entry.reason)) return
    await this.#decide(n, entry)
    if (
      draws.chance(0.4, 'operator', n, 2) &&
      faults.strike('operator repeats a decision', `operator/${n}/again`, entry.reason)
    )
      await this.#decide(n, entry)
  }

  async #decide(n: number, { id, version }: QuarantineView): Promise<void> {
    const { draws, fleet, timeline, record } = this.#world
    const ready = fleet.ready()
    const on = ready[draws.below(ready.length, 'operatorPick', n, 1)]
    if (on === undefined) return
    const decision = `decision-${n}`
    const about = { operator, reason: 'because the producer says so', decision, expectedVersion: version }
    const act = draws.pick(['reprocess', 'reprocess', 'dismiss', 'assign'] as const, 'operatorPick', n, 2)
    let outcome: string
    try {
      const decided =
        act === 'assign'
          ? await assign(on.app, id, 'ada', about)
          : await (act === 'dismiss' ? dismiss : reprocess)(on.app, id, about)
      outcome = decided.outcome
    } catch (error) {
      outcome = codeOf(error) ?? 'internal'
    }
    record({ at: timeline.now, kind: 'decided', entry: id, act, decision, outcome })
  }
}
