import type { Counterfoil } from '../../counterfoil.ts'
import { type Contract, milliseconds } from '../../domain/index.ts'
import type { Draws } from './draws.ts'
import type { ExampleEvent } from './examples.ts'
import { SimulatedFarSide } from './far-side.ts'
import type { PlannedDelivery, Promises } from './history.ts'
import type { Site } from './network-port.ts'
import type { MakeScenario } from './scenario.ts'
import { ArrivingRequest } from './sender.ts'
import type { Shape } from './shapes.ts'
import { farSidePorts, longestStallMs } from './site.ts'
import { type Envelope, envelopeKind, hostOf, plainContract, simulatedConfig } from './user-config.ts'
import { busyMs } from './workload.ts'

/** An event of the user's own, in the order in which its producer means it. */
export interface UserEvent extends ExampleEvent {
  readonly producer: string
  readonly type: string
  readonly version: string | null
}

/** A user's configuration, its recipients simulated from their contracts, and its events with copies and conflicts. */
export function userScenario(app: Counterfoil<any>, events: readonly UserEvent[]): MakeScenario {
  const { triggers, recipients } = simulatedConfig(app)
  return (ports) => {
    const sites = new Map<string, Site>()
    const promises = new Map<string, Promises>()
    for (const [name, { contract }] of app.recipients) {
      const shape = shapeOf(plainContract(contract))
      promises.set(name, shape.promises)
      const far = new SimulatedFarSide(farSidePorts(name, ports), shape)
      const about = { name, promises: shape.promises, tellsInFlight: false }
      sites.set(hostOf(name).split('.')[0]!, {
        ...about,
        far,
        longestStallMs: longestStallMs(shape.promises),
      })
    }
    const config = {
      triggers,
      recipients: [...recipients],
      withPorts: ((given: Parameters<Counterfoil['withPorts']>[0]) =>
        app.withPorts({ ...given, triggers, recipients, kindOf: envelopeKind })) as Counterfoil['withPorts'],
    }
    const asCounterfoil = {
      ...config,
      recipients: new Map(recipients.map((one) => [one.name, one])),
    } as unknown as Counterfoil
    return {
      configs: { 1: asCounterfoil, 2: asCounterfoil },
      sites,
      promises,
      shapes: Object.fromEntries([...promises].map(([name, kept]) => [name, inWords(kept)])),
      deliveries: deliveriesOf(ports.draws, events),
      secrets: [],
      requestOf: ({ producer, body }) =>
        new ArrivingRequest(
          `/in/${producer}`,
          { 'content-type': 'application/json' },
          Buffer.from(body),
        ).asIncoming(),
    }
  }
}

/** Each event once, and some twice: sent again as it was. */
function deliveriesOf(draws: Draws, events: readonly UserEvent[]): PlannedDelivery[] {
  const made: PlannedDelivery[] = []
  const gap = Math.floor(busyMs / (events.length + 1))
  for (const [n, { producer, type, version, data }] of events.entries()) {
    const id = `event-${n}`
    const body = JSON.stringify({ id, type, version, data } satisfies Envelope)
    const about = { producer, id, type, body, operations: [], poison: false }
    const at = n * gap + draws.below(gap, 'time', n)
    made.push({ ...about, index: made.length, at, variant: 'plain' })
    if (draws.chance(0.5, 'variant', n))
      made.push({
        ...about,
        index: made.length,
        at: at + draws.below(60_000, 'time', n, 1),
        variant: 'copy',
      })
  }
  return made.sort((a, b) => a.at - b.at).map((delivery, index) => ({ ...delivery, index }))
}

/** A recipient that keeps a contract to the letter and no further. */
function shapeOf(contract: Contract): Shape {
  const { idempotency, lookup, ordering } = contract
  const { remembersFor = 'unstated', replays } = idempotency ?? {}
  const unstated = idempotency !== undefined && (remembersFor === 'unstated' || replays === 'unstated')
  const remembersMs =
    remembersFor === 'forever'
      ? Number.POSITIVE_INFINITY
      : remembersFor === 'unstated'
        ? 3_600_000
        : milliseconds(remembersFor)
  const finalAfterMs = lookup?.absence.final === true ? milliseconds(lookup.absence.after ?? 0) : null
  // What may be read off two clocks is kept with what they may differ by.
  const withinMs = Math.max(0, (finalAfterMs ?? 0) - 20_000)
  return {
    contract,
    promises: {
      repeats: idempotency === undefined ? null : replays === 'nothing' ? 'refused' : 'replayed',
      remembersErrors: replays === 'first-answer',
      remembersMs: idempotency === undefined ? 0 : remembersMs,
      unstated,
      lookup: lookup === undefined ? null : { finalAfterMs },
      fences: ordering?.fence !== undefined,
      conditional: ordering?.conditional !== undefined,
      tombstones: ordering?.tombstone !== undefined,
      defers: false,
    },
    acceptsForMs: finalAfterMs === null ? Number.POSITIVE_INFINITY : withinMs,
    tellsInFlight: false,
    lookupLagMs: lookup === undefined ? 0 : finalAfterMs === null ? Number.POSITIVE_INFINITY : withinMs,
  }
}

function inWords({ repeats, lookup, fences, tombstones, conditional }: Promises): string {
  const parts = [
    repeats === 'replayed'
      ? 'replays'
      : repeats === 'refused'
        ? 'recognises repeats'
        : 'recognises no repeat',
    ...(lookup === null ? [] : ['can be asked']),
    ...(fences ? ['compares versions'] : []),
    ...(conditional ? ['checks a precondition'] : []),
    ...(tombstones ? ['closes keys'] : []),
  ]
  return parts.join(', ')
}
