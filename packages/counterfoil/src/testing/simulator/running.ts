import type { Counterfoil } from '../../counterfoil.ts'
import type { Draws } from './draws.ts'
import type { Faults } from './faults.ts'
import type { Entry, Promises } from './history.ts'
import type { Life } from './life.ts'
import type { SimulatedInternet } from './network-port.ts'
import type { Timeline } from './timeline.ts'
import type { Workbench } from './workbench.ts'

export interface FleetWorld {
  readonly timeline: Timeline
  readonly draws: Draws
  readonly faults: Faults
  readonly bench: Workbench
  readonly internet: SimulatedInternet
  readonly configs: Readonly<Record<1 | 2, Counterfoil>>
  readonly promises: ReadonlyMap<string, Promises>
  record(entry: Entry): void
}

/** A process that runs now. */
export interface Running {
  readonly life: Life
  readonly app: Counterfoil
  readonly abandon: () => void
}

/** The processes that run and are not paused, in their order. */
export interface Ready {
  ready(): readonly Running[]
}
