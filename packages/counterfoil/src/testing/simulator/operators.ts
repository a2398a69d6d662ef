import type { Counterfoil } from '../../counterfoil.ts'
import { codeOf } from '../../domain/index.ts'
import { type Desk, effects, operator, quarantine, type Seen } from './desks.ts'
import type { FleetWorld, Ready } from './running.ts'
import { busyMs } from './workload.ts'

const desks: readonly Desk[] = [quarantine, effects, effects]

/** People who work off quarantine and unknown effects in the middle of it all, on views that may be old, and sometimes twice. */
export class Operators {
  readonly #world: FleetWorld & { readonly fleet: Ready }
  readonly #seen = new Map<Desk, readonly Seen[]>()

  constructor(world: FleetWorld & { readonly fleet: Ready }) {
    this.#world = world
  }

  plan(): void {
    const { timeline, draws } = this.#world
    const turns = draws.below(9, 'operator', 0)
    for (let n = 1; n <= turns; n++) {
      const at = 10_000 + draws.below(busyMs + 10_000, 'operator', n)
      timeline.after(at, null, () => void this.#turn(n))
    }
  }

  async #turn(n: number): Promise<void> {
    const { draws, fleet, faults } = this.#world
    const [on] = fleet.ready()
    if (on === undefined) return
    const desk = draws.pick(desks, 'desk', n)
    const before = this.#seen.get(desk) ?? []
    // What was seen a while ago is decided on as well.
    const isOld = before.length > 0 && draws.chance(0.4, 'operator', n, 1)
    const seen = isOld ? before : await desk.look(on.app).catch(() => [])
    this.#seen.set(desk, seen)
    const subject = seen[draws.below(seen.length, 'operatorPick', n)]
    if (subject === undefined) return
    const kind = isOld ? 'operator decides on an old view' : 'operator decides'
    if (!faults.strike(kind, `operator/${n}`, subject.about)) return
    await this.#decide(n, desk, subject)
    if (
      draws.chance(0.4, 'operator', n, 2) &&
      faults.strike('operator repeats a decision', `operator/${n}/again`, subject.about)
    )
      await this.#decide(n, desk, subject)
  }

  async #decide(n: number, desk: Desk, { id, version, acts }: Seen): Promise<void> {
    const { draws, fleet, timeline, record } = this.#world
    const ready = fleet.ready()
    const on = ready[draws.below(ready.length, 'operatorPick', n, 1)]
    if (on === undefined) return
    const act = draws.pick(acts, 'operatorPick', n, 2)
    const decision = `decision-${n}`
    const outcome = await decided(desk, on.app, id, act, { decision, version })
    record({ at: timeline.now, kind: 'decided', entry: id, version, act, decision, outcome })
  }
}

async function decided(
  desk: Desk,
  app: Counterfoil,
  id: string,
  act: string,
  { decision, version }: { readonly decision: string; readonly version: number },
): Promise<string> {
  const about = { operator, reason: 'because the producer says so', decision, expectedVersion: version }
  try {
    return await desk.decide(app, id, act, about)
  } catch (error) {
    return codeOf(error) ?? 'internal'
  }
}
