import type { Counterfoil } from '../../counterfoil.ts'
import type { Contract } from '../../domain/index.ts'
import { Draws } from './draws.ts'
import { SimulatedFarSide } from './far-side.ts'
import { Faults } from './faults.ts'
import { Fleet } from './fleet.ts'
import { fleetConfig, secrets } from './fleet-config.ts'
import type { Entry, History, PlannedDelivery, Promises } from './history.ts'
import { SimulatedInternet, type Site } from './network-port.ts'
import { Senders } from './senders.ts'
import { isSettled } from './settled.ts'
import { promisesOf, type ShapeName, shapeNames, shapes } from './shapes.ts'
import { Timeline } from './timeline.ts'
import type { Workbench } from './workbench.ts'
import { deliveriesOf, type Part, parts, payloadMark } from './workload.ts'

/** True time at the beginning of every schedule. */
export const startAt = Date.UTC(2026, 0, 1)
const minute = 60_000
/** After the last fault everything that has a path to evidence gets there within this time. */
const calmMs = 40 * minute

export interface Left {
  /** Ids of faults that do not strike. */
  readonly faults: ReadonlySet<string>
  /** Indexes of deliveries that are not sent. */
  readonly deliveries: ReadonlySet<number>
}

export interface ScheduleResult {
  readonly history: History
  readonly faults: Faults['struck']
  readonly shapes: Readonly<Record<Part, ShapeName>>
  readonly steps: number
}

/** One schedule: what a seed makes happen, from the first delivery to the calm after the last fault. */
export async function runSchedule(seed: number, bench: Workbench, left: Left): Promise<ScheduleResult> {
  const draws = new Draws(seed)
  const timeline = new Timeline(startAt, (count) => draws.bits('tie', count))
  const faults = new Faults(left.faults, () => timeline.now)
  const entries: Entry[] = []
  const record = (entry: Entry) => void entries.push(entry)
  bench.begin(seed, (ms, run) => timeline.after(ms, null, run))

  const chosen = choose(draws)
  const contracts: Record<Part, Contract> = { main: {}, side: {}, later: {} }
  const sites = new Map<string, Site>()
  for (const part of parts) {
    const { contract, site } = siteOf(part, chosen[part], { timeline, bench, record })
    contracts[part] = contract
    sites.set(part, site)
  }
  const promises = new Map<string, Promises>(parts.map((part) => [part, promisesOf(chosen[part])]))
  const flaky = flakyTrigger(draws, faults)
  const configs: Readonly<Record<1 | 2, Counterfoil>> = {
    1: fleetConfig(contracts, 1, { flaky }),
    2: fleetConfig(contracts, 2, { flaky }),
  }
  const internet = new SimulatedInternet({
    timeline,
    draws,
    faults,
    sites,
    record,
    isDurable: (recipient, op, sent) => bench.isDurable(recipient, op, sent),
  })
  const fleet = new Fleet({ timeline, draws, faults, bench, internet, configs, promises, record })
  const deliveries = deliveriesOf(draws).filter(({ index }) => !left.deliveries.has(index))
  const senders = new Senders({ timeline, draws, faults, bench, fleet, record })
  fleet.begin()
  for (const delivery of deliveries) senders.send(delivery)

  await timeline.run(startAt + fleet.busyMs, () => false)
  faults.end()
  fleet.calm()
  senders.calm()
  const calmAt = timeline.now
  await timeline.run(
    calmAt + calmMs,
    () => senders.areDone && isSettled(bench, entries, promises, timeline.now),
  )
  entries.push(...bench.moves(timeline.now))
  const history: History = {
    seed,
    deliveries: deliveries as readonly PlannedDelivery[],
    entries,
    records: await bench.records(timeline.now),
    calmAt,
    promises,
    secrets: [payloadMark, secrets.bearer, secrets.hub, secrets.std.toString()],
  }
  fleet.end()
  return { history, faults: faults.struck, shapes: chosen, steps: timeline.steps }
}

/** Which shape each part has; the side keeps order more often than not. */
function choose(draws: Draws): Record<Part, ShapeName> {
  const ordering: readonly ShapeName[] = ['fence', 'fence and key', 'guard', 'guard that forgets']
  const main = draws.pick(shapeNames, 'shape', 0)
  const side = draws.chance(0.6, 'shape', 1)
    ? draws.pick(ordering, 'shape', 2)
    : draws.pick(shapeNames, 'shape', 3)
  let later = draws.pick(shapeNames, 'shape', 4)
  // One guard has one database.
  while (later.startsWith('guard') || later === side)
    later = shapeNames[(shapeNames.indexOf(later) + 1) % shapeNames.length]!
  return { main: main === side ? (later === main ? 'idempotent' : mainBeside(main)) : main, side, later }
}

function mainBeside(main: ShapeName): ShapeName {
  return main.startsWith('guard') ? 'both' : main
}

function siteOf(
  part: Part,
  name: ShapeName,
  { timeline, bench, record }: { timeline: Timeline; bench: Workbench; record: (entry: Entry) => void },
): { contract: Contract; site: Site } {
  const promises = promisesOf(name)
  const ports = {
    now: () => timeline.now,
    after: (ms: number, run: () => void) => void timeline.after(ms, null, run),
    acted: (act: { key: string | null; body: string; domain: string | null; version: number | null }) => {
      const op = String(JSON.parse(act.body).op)
      record({ at: timeline.now, kind: 'acted', recipient: part, op, ...act })
    },
  }
  // What is under way for longer than the margin of its memory meets a recipient that has forgotten it.
  const remembers = promises.repeats !== null && Number.isFinite(promises.remembersMs)
  const about = {
    name: part,
    promises,
    longestStallMs: remembers ? promises.remembersMs * 0.1 - 5_000 : Infinity,
  }
  if (name === 'guard' || name === 'guard that forgets') {
    const far = bench.guards[name]
    far.begin(ports)
    return { contract: far.contract, site: { ...about, far, tellsInFlight: false } }
  }
  const shape = shapes[name]
  const far = new SimulatedFarSide(ports, shape)
  return { contract: shape.contract, site: { ...about, far, tellsInFlight: shape.tellsInFlight } }
}

function flakyTrigger(draws: Draws, faults: Faults): (order: number) => void {
  const calls = new Map<number, number>()
  return (order) => {
    const nth = calls.get(order) ?? 0
    calls.set(order, nth + 1)
    if (!draws.chance(0.5, 'example', order, nth)) return
    if (faults.strike('trigger throws', `trigger/${order}/${nth}`, `order ${order}`))
      throw new Error('planted')
  }
}
