import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from 'counterfoil'
import { seededRandom } from 'counterfoil/testing'
import type { Kind, Stage, StoreKind } from './kind.ts'
import { Load } from './load.ts'
import type { Plant } from './planted.ts'
import { between } from './random.ts'
import { Undo } from './undo.ts'
import { type Verdict, verdict } from './verdict.ts'

export interface EpisodeOptions {
  readonly store: StoreKind
  readonly seed: number
  readonly times: number
  readonly plant?: Plant | undefined
  /** Instead of the kind's own. */
  readonly everyMs?: number | undefined
  readonly servers?: number | undefined
  readonly onStrike?: (done: number) => void
}

export interface EpisodeReport extends Verdict {
  readonly seed: number
  readonly strikes: number
  readonly deliveries: number
  /** Deliveries that were answered 503, and sent again. */
  readonly refused: number
  readonly starts: number
}

const senders = 6
const eventsPerStrike = 12
/** And a few more while a fault lasts. */
const feedEveryMs = 250
const restWithinMs = 600_000
/** What is due sooner may wait. */
const hastenEveryMs = 4_000

/** One store, one fleet, some faults under load; then all comes to rest and is held against what was seen outside. */
export async function episode(kind: Kind, options: EpisodeOptions): Promise<EpisodeReport> {
  const { store, seed, times, plant, everyMs, servers = kind.servers } = options
  const random = seededRandom(seed)
  const directory = mkdtempSync(join(tmpdir(), `counterfoil-chaos-${kind.name}-`))
  const undo = new Undo()
  const defer = undo.defer
  defer(() => rmSync(directory, { recursive: true, force: true }))
  try {
    const stage = await kind.stage({ store, seed, random, directory, servers, plant, defer })
    const { fleet, place } = stage
    await fleet.start()
    const load = new Load({ fleet, random: seededRandom(seed + 1), senders })
    defer(() => load.abandon())
    load.start()
    const feeding = setInterval(() => load.allow(1), feedEveryMs)
    defer(() => clearInterval(feeding))
    for (let done = 0; done < times; done++) {
      load.allow(eventsPerStrike)
      await sleep(everyMs ?? between(random, ...kind.everyMs))
      await stage.strike()
      options.onStrike?.(done + 1)
    }
    await stage.calm()
    clearInterval(feeding)
    await load.stop()
    const late = await comeToRest(stage)
    const stops = await fleet.drain()
    const found = await verdict(place, fleet, load, seed)
    return {
      ...found,
      violations: [...fleet.surprises, ...stops, ...late, ...found.violations],
      seed,
      strikes: times,
      deliveries: load.requests,
      refused: load.refused,
      starts: fleet.members.reduce((sum, { starts }) => sum + starts, 0),
    }
  } finally {
    await undo.all()
  }
}

/** Waits until nothing moves by itself any more. @returns what does not come to rest (I4, I22) */
async function comeToRest({ place }: Stage): Promise<string[]> {
  const store = await place.open()
  try {
    const until = Date.now() + restWithinMs
    let hastened = Date.now()
    for (;;) {
      const moving = await movingIn(store)
      if (moving === '') return []
      if (Date.now() > hastened + hastenEveryMs) {
        await place.hasten()
        hastened = Date.now()
      }
      if (Date.now() > until)
        return [`I4, I22: after ${restWithinMs / 1000} s of calm there are still ${moving}`]
      await sleep(250)
    }
  } finally {
    await store.close()
  }
}

async function movingIn(store: Store): Promise<string> {
  const { outbox, effects } = await store.status()
  const { planned, attempting, unknown } = effects.byState
  const undecided = unknown - effects.escalated
  const counts = { outbox: outbox.waiting, planned, attempting, 'unknown and not escalated': undecided }
  const left = Object.entries(counts).filter(([, count]) => count > 0)
  return left.map(([what, count]) => `${count} ${what}`).join(', ')
}
