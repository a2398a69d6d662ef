import { violationsOf } from './checks/index.ts'
import type { Violation } from './checks/violation.ts'
import type { Fault } from './faults.ts'
import { fleetScenario } from './fleet-scenario.ts'
import type { History } from './history.ts'
import type { MakeScenario } from './scenario.ts'
import { runSchedule } from './schedule.ts'
import { storyOf } from './story.ts'
import { Workbench } from './workbench.ts'

/** Which schedule is played, and on what. */
export interface SimulateOptions {
  /** Ids of faults (`Simulated.faults`) and indexes of deliveries that are left out; everything else stays as it was. */
  readonly without?: { readonly faults?: ReadonlySet<string>; readonly deliveries?: ReadonlySet<number> }
}

/** What came of one seed. */
export interface Simulated {
  readonly seed: number
  /** Empty when every invariant holds. */
  readonly violations: readonly Violation[]
  readonly history: History
  /** The faults that struck, in their order. */
  readonly faults: readonly Fault[]
  /** The contract shape of each recipient. */
  readonly shapes: Readonly<Record<string, string>>
  /** Steps of the schedule. */
  readonly steps: number
  /** What happened, in words, with virtual times; made when it is asked for. */
  story(): string
}

let workbench: Promise<Workbench> | undefined

/**
 * Runs the engine that ships through one schedule of faults and checks the invariants of design.md section 4 on what
 * was seen from outside. The same seed replays exactly. One schedule at a time in each thread.
 *
 * @param seed a whole number from 0 to 2^53
 */
export async function simulate(seed: number, options: SimulateOptions = {}): Promise<Simulated> {
  return await simulateScenario(seed, fleetScenario, options)
}

/** The same with a configuration of somebody else's. */
export async function simulateScenario(
  seed: number,
  scenario: MakeScenario,
  options: SimulateOptions = {},
): Promise<Simulated> {
  workbench ??= Workbench.open()
  const { faults: withoutFaults, deliveries } = options.without ?? {}
  const left = { faults: withoutFaults ?? new Set<string>(), deliveries: deliveries ?? new Set<number>() }
  const { history, faults, shapes, steps } = await runSchedule(seed, await workbench, left, scenario)
  const violations = violationsOf(history)
  return {
    seed,
    violations,
    history,
    faults,
    shapes,
    steps,
    story: () => storyOf({ history, faults, shapes, violations }),
  }
}
