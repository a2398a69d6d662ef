import type { Entry, Promises } from './history.ts'
import type { Workbench } from './workbench.ts'

/**
 * Milliseconds into the calm at which a path to evidence is judged at the latest. At its end an hour's memory of a
 * recipient is over, and who had let the path go by would be excused.
 */
export const judgedAfterMs = 40 * 60_000

/**
 * Whether everything is over that can come to an end. Said from what was seen from outside and what the recipients
 * promise, by hand; so it errs on the side of waiting.
 */
export function isSettled(
  bench: Workbench,
  entries: readonly Entry[],
  promises: ReadonlyMap<string, Promises>,
  { calmAt, now }: { readonly calmAt: number; readonly now: number },
): boolean {
  if (!bench.isPlanned) return false
  const judgedAt = Math.min(now, calmAt + judgedAfterMs)
  return bench.unsettled().every(({ recipient, key, state, begunAt }) => {
    const known = promises.get(recipient)
    if (state !== 'unknown' || known === undefined) return false
    return !hasPath(known, seenOf(entries, recipient, key), begunAt ?? judgedAt, judgedAt)
  })
}

export interface Seen {
  readonly acted: boolean
  /** The recipient has answered with an error that it keeps and replays. */
  readonly failed: boolean
  /** An answer said that an older one, or a precondition, stands in the way. */
  readonly fenced: boolean
  /** A process that was neither ended nor replaced since has heard that it acted. */
  readonly told: boolean
}

export function seenOf(entries: readonly Entry[], recipient: string, op: string): Seen {
  let acted = false
  let failed = false
  let fenced = false
  let heardBy: number | undefined
  for (const entry of entries) {
    if (entry.kind === 'process' && entry.process === heardBy && ends.test(entry.what)) heardBy = undefined
    if (!('op' in entry) || entry.op !== op || entry.recipient !== recipient) continue
    if (entry.kind === 'acted') acted = true
    if (entry.kind === 'heard' && (entry.status ?? 0) >= 500) failed = true
    if (entry.kind === 'heard' && entry.status === 412) fenced = true
    if (entry.kind === 'heard' && entry.status === 200) heardBy = entry.process
  }
  return { acted, failed, fenced, told: heardBy !== undefined }
}

const ends = /^(dies|is asked to stop)/

/** A lookup that came too late, or a repeat, would meet a recipient that has forgotten. */
const trusted = 0.85

/** Whether evidence of an unknown effect can still be had: asked, repeated or closed, now that no fault strikes. */
export function hasPath(
  promises: Promises,
  { acted, failed, fenced, told }: Seen,
  begunAt: number,
  now: number,
): boolean {
  const { lookup, tombstones, conditional, repeats, remembersErrors, remembersMs, unstated } = promises
  if (told) return true
  const remembered = now < begunAt + remembersMs * trusted
  if (lookup !== null && remembered && (acted || lookup.finalAfterMs !== null)) return true
  if (tombstones && remembered) return true
  if (conditional) return !acted && !fenced
  const replays = repeats === 'replayed' && !unstated && remembered && !fenced
  return replays && !(remembersErrors && failed)
}
