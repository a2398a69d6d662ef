import type { Violation } from './checks/index.ts'
import { type Simulated, simulate } from './simulate.ts'

/** The shortest story that still breaks what the whole one broke. */
export interface Shrunk {
  /** The schedule with nothing in it that its violation does not need. */
  readonly simulated: Simulated
  readonly without: { readonly faults: ReadonlySet<string>; readonly deliveries: ReadonlySet<number> }
  /** Schedules that were run to find it. */
  readonly runs: number
}

/** Most schedules that are run for one story. */
const maxRuns = 600

/**
 * Leaves out of a failing seed every fault and delivery that its first violation does not need: halves first, then
 * one by one, until nothing more can go. Null when the seed does not fail.
 */
export async function shrink(seed: number): Promise<Shrunk | null> {
  let simulated = await simulate(seed)
  const [wanted] = simulated.violations
  if (wanted === undefined) return null
  const faults = new Set<string>()
  const deliveries = new Set<number>()
  let runs = 1
  const failsWithout = async (ids: readonly string[], indexes: readonly number[]): Promise<boolean> => {
    if (runs >= maxRuns) return false
    runs++
    const without = {
      faults: new Set([...faults, ...ids]),
      deliveries: new Set([...deliveries, ...indexes]),
    }
    const tried = await simulate(seed, { without })
    if (!tried.violations.some((violation) => isSame(violation, wanted))) return false
    for (const id of ids) faults.add(id)
    for (const index of indexes) deliveries.add(index)
    simulated = tried
    return true
  }
  for (let left = Number.POSITIVE_INFINITY; ; ) {
    const rest = simulated.history.deliveries.map(({ index }) => index)
    await dropParts(rest, (part) => failsWithout([], part))
    await dropParts(
      simulated.faults.map(({ id }) => id),
      (part) => failsWithout(part, []),
    )
    const now = simulated.faults.length + simulated.history.deliveries.length
    if (now >= left || runs >= maxRuns) return { simulated, without: { faults, deliveries }, runs }
    left = now
  }
}

/** The same promise, broken for the same thing. Ids of records are drawn anew when something is left out. */
function isSame(one: Violation, other: Violation): boolean {
  const isRecord = /^(rcp|eff|qua)_/.test(one.about)
  return one.invariant === other.invariant && (isRecord || one.about === other.about)
}

/** Tries to drop ever smaller parts of a list. */
async function dropParts<Value>(
  values: readonly Value[],
  drops: (part: readonly Value[]) => Promise<boolean>,
): Promise<void> {
  let rest = values
  for (let size = Math.ceil(values.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < rest.length; ) {
      const part = rest.slice(at, at + size)
      if (await drops(part)) rest = [...rest.slice(0, at), ...rest.slice(at + size)]
      else at += size
    }
  }
}
