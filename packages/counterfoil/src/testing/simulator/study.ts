import type { Counterfoil } from '../../counterfoil.ts'
import { CounterfoilError } from '../../domain/index.ts'
import type { EventType } from '../../intake/index.ts'
import { type Examples, examplesOf } from './examples.ts'
import type { Finding } from './finding.ts'
import { findInPlans } from './plan-findings.ts'
import { defaultOutageMs, findInRetention } from './retention-findings.ts'
import { type Simulated, simulateScenario } from './simulate.ts'
import { type UserEvent, userScenario } from './user-scenario.ts'

/** How many schedules of a configuration are played, and with which events. */
export interface StudyOptions {
  /** Events to send, by type; what is not given is derived from the schema of the type. */
  readonly examples?: Examples
  /** Schedules of faults. Default 100. */
  readonly seeds?: number
  /** The first seed. Default 0. */
  readonly from?: number
  /** How long a recipient may be away while an answer is missing, in milliseconds. Default one hour. */
  readonly outageMs?: number
}

/** What was found in a configuration. */
export interface Study {
  /** Empty: nothing was found. */
  readonly findings: readonly Finding[]
  readonly schedules: number
  /** Faults that struck in all schedules. */
  readonly faults: number
  /** Events of each schedule, without copies. */
  readonly events: number
}

/**
 * Plays a configuration through schedules of faults: your triggers in the engine that ships, on a store in memory, with
 * virtual time, and recipients simulated from their contracts. Nothing of yours is called but triggers, schemas and the `request` functions
 * of effects; no socket is opened and no store of yours is touched.
 *
 * @throws CounterfoilError `examples_needed`, `config_invalid`, `store_not_durable` in production
 *
 * @example
 * const { findings } = await study(app, { seeds: 50 })
 * assert.deepEqual(findings, [])
 */
export async function study(app: Counterfoil<any>, options: StudyOptions = {}): Promise<Study> {
  const { examples = {}, seeds = 100, from = 0, outageMs = defaultOutageMs } = options
  const events = await eventsOf(app, examples)
  const findings = [...(await findInPlans(app, events)), ...findInRetention(app, outageMs)]
  const scenario = userScenario(app, events)
  let faults = 0
  for (let seed = from; seed < from + seeds; seed++) {
    const simulated = await simulateScenario(seed, scenario)
    faults += simulated.faults.length
    findings.push(...brokenIn(simulated))
    if (simulated.violations.length > 0) break
  }
  return { findings, schedules: seeds, faults, events: events.length }
}

/** One schedule of a configuration, with its story. @throws as `study` */
export async function simulateConfig(
  app: Counterfoil<any>,
  seed: number,
  { examples = {} }: Pick<StudyOptions, 'examples'> = {},
): Promise<Simulated> {
  return await simulateScenario(seed, userScenario(app, await eventsOf(app, examples)))
}

async function eventsOf(app: Counterfoil<any>, examples: Examples): Promise<UserEvent[]> {
  const types = new Map<string, EventType>()
  for (const type of app.triggers.flatMap((trigger) => trigger.on as readonly EventType[]))
    types.set(`${type.producer.name} ${type.type} ${type.version}`, type)
  if (types.size === 0) {
    throw new CounterfoilError(
      'config_invalid',
      'The configuration has no trigger, so nothing can be simulated.',
    )
  }
  const events: UserEvent[] = []
  for (const type of types.values()) {
    const about = { producer: type.producer.name, type: type.type, version: type.version ?? null }
    for (const example of await examplesOf(type, examples)) events.push({ ...example, ...about })
  }
  return events
}

function brokenIn({ seed, violations }: Simulated): Finding[] {
  return violations.map(({ invariant, about, says }) => ({
    kind: 'invariant-broken',
    where: about,
    says: `${invariant}: ${says}`,
    change: 'This is a fault of Counterfoil: please report it with the seed.',
    seed,
  }))
}
