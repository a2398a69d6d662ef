import type { Counterfoil } from '../counterfoil.ts'
import { type BackfillFigure, CounterfoilError, codeOf, type WorkerId } from '../domain/index.ts'
import { passes } from '../engine/index.ts'
import type { BackfillIntake, BackfillItem } from '../intake/index.ts'
import type { Acceptance, BackfillView } from '../store/index.ts'
import { plannedChunks } from './backfill-chunks.ts'
import { Pace } from './backfill-pace.ts'

/** Short: one that ends early costs a chunk prepared in vain, and nothing else. */
export const backfillLeaseMs = 4_000
/** Items that are prepared before others get their turn. */
const preparedTogether = 5
const retryMs = 1_000

export interface BackfillTurn {
  readonly name: string
  readonly worker: WorkerId
  /** Ends it after the chunk in work; the lease is given back. */
  readonly signal: AbortSignal
  readonly onProgress?: (backfill: BackfillView) => void
}

/**
 * Takes a running backfill in, from where it stands to its end, or until it is paused, halted, stopped or another
 * worker's. What was taken in is in the store with each chunk, so a crash loses nothing and counts nothing twice.
 *
 * @returns as it is then; null when it is not this worker's to take in
 */
export async function takeIn(app: Counterfoil, turn: BackfillTurn): Promise<BackfillView | null> {
  const { name, worker, signal } = turn
  for (;;) {
    try {
      const leased = await app.store.leaseBackfill(leaseOf(app, turn))
      if (leased === null) return null
      await takeInFrom(app, turn, leased)
      await app.store.leaveBackfill({ name, worker, at: app.clock.now(), halted: null })
      return await app.store.showBackfill(name)
    } catch (error) {
      const code = codeOf(error) ?? 'internal'
      if (!passes(error)) {
        // Our own errors say no payload. Nothing of the chunk was written, and to try it again would not mend it.
        const halted =
          error instanceof CounterfoilError ? error.message : `An ${code} error: ${(error as Error).name}.`
        app.log('error', 'a backfill halted', { backfill: name, code, why: halted })
        await app.store.leaveBackfill({ name, worker, at: app.clock.now(), halted })
        return await app.store.showBackfill(name)
      }
      if (signal.aborted) throw error
      app.log('warn', 'the store did not take a chunk of a backfill; it is tried again', {
        backfill: name,
        code,
      })
      await new Promise<void>((resolve) => app.clock.after(retryMs, resolve))
    }
  }
}

async function takeInFrom(app: Counterfoil, turn: BackfillTurn, leased: BackfillView): Promise<void> {
  const { name, plan, run } = leased
  const intake = app.backfillIntake({ name, producer: plan.producer, source: plan.source })
  const lease = new Lease(app, turn)
  const goesOn = () => !turn.signal.aborted && !lease.isLost
  // Looked through once before anything of it is taken in; a list is asked for twice as it is.
  if (run.chunks === 0 && plan.source.kind !== 'listed') {
    for await (const _ of plannedChunks(app.store, intake, leased, 0)) {
      await lease.keep()
      if (!goesOn()) return
    }
  }
  const pace = new Pace(app, run.rate, goesOn)
  if (plan.chunks === 0) await app.store.acceptChunk({ ...leaseOf(app, turn), ...nothing })
  for await (const { chunk, items } of plannedChunks(app.store, intake, leased, run.chunks)) {
    const waiting = lease.whileWaiting()
    await pace.turn(chunk.items)
    await waiting.end()
    if (!goesOn()) return
    const begun = performance.now()
    const prepared = await prepare(intake, items)
    const taken = await app.store.acceptChunk({
      ...leaseOf(app, turn),
      ...prepared,
      chunk: chunk.number,
      items: chunk.items,
    })
    if (taken.kind === 'lost') return
    lease.renewed()
    turn.onProgress?.(taken.backfill)
    if (taken.backfill.state !== 'running') return
    await pace.rest(performance.now() - begun)
  }
}

const nothing = { chunk: 0, items: 0, others: [], entries: [] } as const

function leaseOf(app: Counterfoil, { name, worker }: BackfillTurn) {
  return { name, worker, now: app.clock.now(), leaseMs: backfillLeaseMs }
}

async function prepare(intake: BackfillIntake, items: readonly BackfillItem[]) {
  const entries: Acceptance[] = []
  const others: BackfillFigure[] = []
  for (const [index, item] of items.entries()) {
    const read = await intake.read(item)
    if (read.kind === 'fault') others.push(read.figure)
    else {
      for (const event of read.events) entries.push(intake.acceptance(event))
    }
    // Live deliveries of this process come in between.
    if (index % preparedTogether === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return { entries, others }
}

/** The lease between two chunks: each chunk renews it, and a long wait does. */
class Lease {
  readonly #app: Counterfoil
  readonly #turn: BackfillTurn
  #renewedAt: number
  isLost = false

  constructor(app: Counterfoil, turn: BackfillTurn) {
    this.#app = app
    this.#turn = turn
    this.#renewedAt = app.clock.now()
  }

  renewed(): void {
    this.#renewedAt = this.#app.clock.now()
  }

  async keep(): Promise<void> {
    if (this.#app.clock.now() < this.#renewedAt + backfillLeaseMs / 3) return
    this.isLost = (await this.#app.store.leaseBackfill(leaseOf(this.#app, this.#turn))) === null
    this.renewed()
  }

  whileWaiting(): { end(): Promise<void> } {
    let cancel = () => {}
    let keeping: Promise<void> = Promise.resolve()
    const again = () => {
      cancel = this.#app.clock.after(backfillLeaseMs / 3, () => {
        keeping = this.keep().catch(() => {})
        again()
      })
    }
    again()
    return {
      end: async () => {
        cancel()
        await keeping
      },
    }
  }
}
