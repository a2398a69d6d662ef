import { Draws } from './draws.ts'
import { Faults } from './faults.ts'
import { Fleet } from './fleet.ts'
import type { Entry, History } from './history.ts'
import { SimulatedInternet } from './network-port.ts'
import type { MakeScenario } from './scenario.ts'
import { Senders } from './senders.ts'
import { isSettled } from './settled.ts'
import { Timeline } from './timeline.ts'
import type { Workbench } from './workbench.ts'

/** True time at the beginning of every schedule. */
export const startAt = Date.UTC(2026, 0, 1)
const minute = 60_000
/**
 * After the last fault everything that has a path to evidence gets there within this time: a key that is repeated in vain is closed
 * when nine tenths of the longest memory that is waited for, an hour, are over, and a back-off of five minutes may end just before.
 */
const calmMs = 65 * minute

export interface Left {
  /** Ids of faults that do not strike. */
  readonly faults: ReadonlySet<string>
  /** Indexes of deliveries that are not sent. */
  readonly deliveries: ReadonlySet<number>
}

export interface ScheduleResult {
  readonly history: History
  readonly faults: Faults['struck']
  /** What kind of recipient stands behind each name. */
  readonly shapes: Readonly<Record<string, string>>
  readonly steps: number
}

/** One schedule: what a seed makes happen, from the first delivery to the calm after the last fault. */
export async function runSchedule(
  seed: number,
  bench: Workbench,
  left: Left,
  makeScenario: MakeScenario,
): Promise<ScheduleResult> {
  const draws = new Draws(seed)
  const timeline = new Timeline(startAt, (count) => draws.bits('tie', count))
  const faults = new Faults(left.faults, () => timeline.now)
  const entries: Entry[] = []
  const record = (entry: Entry) => void entries.push(entry)
  bench.begin(seed, (ms, run) => timeline.after(ms, null, run))
  const scenario = makeScenario({ draws, timeline, faults, bench, record })
  const { sites, promises } = scenario
  const internet = new SimulatedInternet({
    timeline,
    draws,
    faults,
    sites,
    record,
    isDurable: (recipient, op, sent) => bench.isDurable(recipient, op, sent),
  })
  const { configs } = scenario
  const fleet = new Fleet({ timeline, draws, faults, bench, internet, configs, promises, record })
  const deliveries = scenario.deliveries.filter(({ index }) => !left.deliveries.has(index))
  const { requestOf } = scenario
  const senders = new Senders({ timeline, draws, faults, bench, fleet, record, requestOf })
  fleet.begin()
  for (const delivery of deliveries) senders.send(delivery)

  await timeline.run(startAt + fleet.busyMs, () => false)
  faults.end()
  fleet.calm()
  senders.calm()
  const calmAt = timeline.now
  await timeline.run(
    calmAt + calmMs,
    () => senders.areDone && isSettled(bench, entries, promises, { calmAt, now: timeline.now }),
  )
  fleet.end()
  entries.push(...bench.moves(timeline.now))
  const history: History = {
    seed,
    deliveries,
    entries,
    records: await bench.records(timeline.now),
    calmAt,
    tellsAlerts: scenario.tellsAlerts === true,
    ...(scenario.leaseMs === undefined ? {} : { leaseMs: scenario.leaseMs }),
    promises,
    secrets: scenario.secrets,
  }
  return { history, faults: faults.struck, shapes: scenario.shapes, steps: timeline.steps }
}
