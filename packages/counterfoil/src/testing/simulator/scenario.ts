import type { IncomingMessage } from 'node:http'
import type { Counterfoil } from '../../counterfoil.ts'
import type { Draws } from './draws.ts'
import type { Faults } from './faults.ts'
import type { Entry, PlannedDelivery, Promises } from './history.ts'
import type { Site } from './network-port.ts'
import type { Timeline } from './timeline.ts'
import type { Workbench } from './workbench.ts'

/** What a schedule is played with: configurations, recipients and deliveries. */
export interface Scenario {
  /** What a process runs before and after it is replaced by a deployment. */
  readonly configs: Readonly<Record<1 | 2, Counterfoil>>
  /** Recipients by name, which is their host too. */
  readonly sites: ReadonlyMap<string, Site>
  readonly promises: ReadonlyMap<string, Promises>
  readonly shapes: Readonly<Record<string, string>>
  readonly deliveries: readonly PlannedDelivery[]
  readonly secrets: readonly string[]
  /** Alerts come to `onAlert`, and to no effect of its own. */
  readonly tellsAlerts?: boolean
  /** How long its processes lease work for, in milliseconds, where that is known. */
  readonly leaseMs?: number
  /** @param now the sender's clock, in milliseconds */
  readonly requestOf: (delivery: PlannedDelivery, now: number) => IncomingMessage
}

export interface ScenarioPorts {
  readonly draws: Draws
  readonly timeline: Timeline
  readonly faults: Faults
  readonly bench: Workbench
  record(entry: Entry): void
}

export type MakeScenario = (ports: ScenarioPorts) => Scenario
