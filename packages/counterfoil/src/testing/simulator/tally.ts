import { type Invariant, invariants } from './checks/index.ts'
import type { FaultKind } from './faults.ts'
import type { History } from './history.ts'
import type { Simulated } from './simulate.ts'

/** What many schedules together have met: how many faults of each kind, shapes of each, and subjects of each invariant. */
export class Tally {
  schedules = 0
  faults = 0
  steps = 0
  readonly byFault = new Map<FaultKind, number>()
  readonly byShape = new Map<string, number>()
  /** Deliveries, receipts, requests, effects, … that an invariant was held against. */
  readonly byInvariant = new Map<Invariant, number>()

  add({ faults, shapes, steps, history }: Simulated): void {
    this.schedules++
    this.faults += faults.length
    this.steps += steps
    for (const { kind } of faults) count(this.byFault, kind, 1)
    for (const shape of Object.values(shapes)) count(this.byShape, shape, 1)
    const subjects = subjectsOf(history)
    for (const invariant of invariants) count(this.byInvariant, invariant, subjects[invariant])
  }

  /** Adds what another process has counted. */
  merge(other: TallyRecord): void {
    this.schedules += other.schedules
    this.faults += other.faults
    this.steps += other.steps
    for (const [kind, times] of other.byFault) count(this.byFault, kind, times)
    for (const [shape, times] of other.byShape) count(this.byShape, shape, times)
    for (const [invariant, times] of other.byInvariant) count(this.byInvariant, invariant, times)
  }

  toJSON(): TallyRecord {
    const { schedules, faults, steps } = this
    const [byFault, byShape, byInvariant] = [[...this.byFault], [...this.byShape], [...this.byInvariant]]
    return { schedules, faults, steps, byFault, byShape, byInvariant }
  }
}

/** What schedules met, summed, as JSON carries it. */
export interface TallyRecord {
  readonly schedules: number
  readonly faults: number
  readonly steps: number
  readonly byFault: readonly (readonly [FaultKind, number])[]
  readonly byShape: readonly (readonly [string, number])[]
  readonly byInvariant: readonly (readonly [Invariant, number])[]
}

function count<Name>(counts: Map<Name, number>, name: Name, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by)
}

function subjectsOf({ entries, records, promises, deliveries }: History): Record<Invariant, number> {
  const of = (kind: string) => entries.filter((entry) => entry.kind === kind).length
  const { receipts, effects, audit } = records
  const repeats = entries.filter((entry) => entry.kind === 'sent' && entry.nth > 1)
  const at = (fits: (promised: NonNullable<ReturnType<typeof promises.get>>) => boolean) =>
    effects.filter(({ recipient }) => {
      const known = promises.get(recipient)
      return known !== undefined && fits(known)
    }).length
  const [acknowledged, sent, moved] = [of('acknowledged'), of('sent'), of('moved')]
  return {
    I1: acknowledged,
    I2: receipts.length,
    I3: receipts.length,
    I4: receipts.length,
    I5: sent,
    I6: effects.length,
    I7: repeats.length,
    I8: effects.length,
    I9: at(({ repeats: kept }) => kept === 'replayed'),
    I10: at(({ repeats: kept, lookup }) => kept !== 'replayed' && (kept !== null || lookup !== null)),
    I11: at(({ repeats: kept, lookup, conditional }) => kept === null && lookup === null && !conditional),
    I12: moved,
    I13: entries.filter((entry) => entry.kind === 'moved' && entry.from === 'unknown').length,
    I14: entries.filter((entry) => entry.kind === 'acted' && entry.version !== null).length,
    I15: of('closed'),
    I16: repeats.length,
    I17: receipts.filter(({ conflictsWith }) => conflictsWith !== null).length,
    I18: deliveries.filter(({ beyondRetention }) => beyondRetention === true).length,
    I19: receipts.filter(({ origin }) => origin !== 'live').length,
    I20: effects.length + audit.length,
    I21: of('logged') + acknowledged + receipts.length,
    I22: effects.length,
  }
}
