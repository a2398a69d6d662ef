import type { Counterfoil } from '../counterfoil.ts'
import { codeOf, timeOrderedId, type WorkerId } from '../domain/index.ts'
import { takeIn } from './backfill-run.ts'

const lookMs = 1_000

export interface BackfillWorker {
  /** Ends after the chunk in work, before the store is closed. */
  stop(): Promise<void>
}

/** Takes in what runs, one backfill at a time, in a process that serves: also what another process left by a crash. */
export function startBackfillWorker(app: Counterfoil): BackfillWorker {
  const worker = newWorker(app)
  const stopping = new AbortController()
  let wake = () => {}
  const working = (async () => {
    while (!stopping.signal.aborted) {
      await look(app, worker, stopping.signal)
      if (stopping.signal.aborted) return
      await new Promise<void>((resolve) => {
        const cancel = app.clock.after(lookMs, resolve)
        wake = () => {
          cancel()
          resolve()
        }
      })
    }
  })()
  return {
    async stop() {
      stopping.abort()
      wake()
      await working
    },
  }
}

export function newWorker({ clock, random }: Counterfoil): WorkerId {
  return timeOrderedId<WorkerId>('wrk', clock.now(), random.bytes(10))
}

async function look(app: Counterfoil, worker: WorkerId, signal: AbortSignal): Promise<void> {
  try {
    for (const { name, state } of await app.store.listBackfills()) {
      if (state !== 'running' || signal.aborted) continue
      const taken = await takeIn(app, { name, worker, signal })
      if (taken?.state === 'done')
        app.log('info', 'a backfill is done', { backfill: name, ...taken.run.counts })
    }
  } catch (error) {
    app.log('warn', 'backfills could not be looked at; they are looked at again', {
      code: codeOf(error) ?? 'internal',
      error: error instanceof Error ? error.message.slice(0, 300) : '',
    })
  }
}
