import type { Contract } from '../../domain/index.ts'
import type { Draws } from './draws.ts'
import { SimulatedFarSide } from './far-side.ts'
import type { Faults } from './faults.ts'
import { fleetConfig, leaseMs, secrets } from './fleet-config.ts'
import type { Promises } from './history.ts'
import type { Site } from './network-port.ts'
import type { Scenario, ScenarioPorts } from './scenario.ts'
import { requestOf } from './sender.ts'
import { promisesOf, type ShapeName, shapeNames, shapes } from './shapes.ts'
import { farSidePorts, longestStallMs } from './site.ts'
import { deliveriesOf, type Part, parts, payloadMark } from './workload.ts'

/** Our own configuration at recipients of three shapes: what a million seeds are played with. */
export function fleetScenario(ports: ScenarioPorts): Scenario {
  const { draws, faults } = ports
  const chosen = choose(draws)
  const contracts: Record<Part, Contract> = { main: {}, side: {}, later: {} }
  const sites = new Map<string, Site>()
  for (const part of parts) {
    const { contract, site } = siteOf(part, chosen[part], ports)
    contracts[part] = contract
    sites.set(part, site)
  }
  const hooks = { flaky: flakyTrigger(draws, faults) }
  return {
    configs: { 1: fleetConfig(contracts, 1, hooks), 2: fleetConfig(contracts, 2, hooks) },
    sites,
    promises: new Map<string, Promises>(parts.map((part) => [part, promisesOf(chosen[part])])),
    shapes: chosen,
    deliveries: deliveriesOf(draws),
    secrets: [payloadMark, secrets.bearer, secrets.hub, secrets.std.toString()],
    tellsAlerts: true,
    leaseMs,
    requestOf,
  }
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
  { timeline, bench, record }: ScenarioPorts,
): { contract: Contract; site: Site } {
  const promises = promisesOf(name)
  const ports = farSidePorts(part, { timeline, record })
  const about = { name: part, promises, longestStallMs: longestStallMs(promises) }
  if (name === 'guard' || name === 'guard that forgets') {
    const far = bench.guards[name]
    far.begin(ports)
    // It refuses what is so late that it could have forgotten it.
    const longestStall = Number.POSITIVE_INFINITY
    return {
      contract: far.contract,
      site: { ...about, far, longestStallMs: longestStall, tellsInFlight: false },
    }
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
