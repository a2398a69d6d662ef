import type { Counterfoil } from '../counterfoil.ts'
import type { Instant } from '../domain/index.ts'

/** Whether this process should be sent deliveries, and what each part of that says. */
export interface Readiness {
  readonly ready: boolean
  readonly checks: {
    /** It was started and does not drain. */
    readonly running: boolean
    /** A commit was made just now, so the store can be written and its schema is that of this version. */
    readonly store: boolean
    /** Fewer receipts wait for their plan than would have deliveries refused. */
    readonly backlog: boolean
  }
  /** Where one is configured: how long the last round trip took, or takes by now. Decides nothing. */
  readonly roundTripSeconds?: number
}

/** How long an answer stands: asking is open to everybody and costs a commit. */
const standsMs = 1_000

/** Looks whether deliveries would be accepted. @returns a function to ask */
export function readiness(app: Counterfoil): () => Promise<Readiness> {
  let last: { readonly at: Instant; readonly answer: Promise<Readiness> } | undefined
  return () => {
    const now = app.clock.now()
    const isRunning = app.running
    // What drains is not ready at once, whatever was said a moment ago.
    if (last === undefined || now >= last.at + standsMs || !isRunning) {
      last = { at: now, answer: look(app, now) }
    }
    return last.answer
  }
}

async function look(app: Counterfoil, now: Instant): Promise<Readiness> {
  const { running, store, maxBacklog } = app
  const [written, backlog] = await Promise.all([
    store.probe(now).then(
      () => true,
      () => false,
    ),
    store.backlog().then(
      (waiting) => waiting < maxBacklog,
      () => false,
    ),
  ])
  const tripMs = app.roundTripMs()
  return {
    ready: running && written && backlog,
    checks: { running, store: written, backlog },
    ...(tripMs === null ? {} : { roundTripSeconds: tripMs / 1000 }),
  }
}
