import { createHash } from 'node:crypto'

/** What is pure of a backfill: its states, its figures, and the digest that an approval is bound to. */

/**
 * `halted`: its input is not the one that was approved, or cannot be read. What it took in stays.
 */
export const backfillStates = ['planned', 'approved', 'running', 'paused', 'halted', 'done'] as const
export type BackfillState = (typeof backfillStates)[number]

export type BackfillFact = 'planned' | 'approved' | 'begun' | 'paused' | 'halted' | 'done'

const table: Readonly<Record<BackfillState, Partial<Readonly<Record<BackfillFact, BackfillState>>>>> = {
  // Planned again, it is another input: whoever approved the old one has not seen it.
  planned: { planned: 'planned', approved: 'approved' },
  approved: { planned: 'planned', begun: 'running' },
  running: { paused: 'paused', halted: 'halted', done: 'done' },
  paused: { begun: 'running' },
  halted: { begun: 'running' },
  done: {},
}

/** @returns the next state; null when the fact cannot follow */
export function moveBackfill(state: BackfillState, fact: BackfillFact): BackfillState | null {
  return table[state][fact] ?? null
}

/** What becomes of each item: events as intake answers them, and what never becomes one. */
export const backfillFigures = [
  'new',
  'duplicate',
  'conflicting',
  'unsupported',
  'schemaFailure',
  'notRepresentable',
  'beyondRetention',
  /** Not vouched for: its signature does not verify, or it is no delivery of this producer. */
  'refused',
  /** No JSON, or no stored request. */
  'malformed',
] as const
export type BackfillFigure = (typeof backfillFigures)[number]
export type BackfillCounts = Readonly<Record<BackfillFigure, number>>

export const noCounts: BackfillCounts = Object.fromEntries(
  backfillFigures.map((figure) => [figure, 0]),
) as BackfillCounts

export function addCounts(counts: BackfillCounts, figures: Iterable<BackfillFigure>): BackfillCounts {
  const sum = { ...counts }
  for (const figure of figures) sum[figure]++
  return sum
}

/** SHA-256 over the digests of its items, in their order; in hexadecimal. */
export function chunkDigest(items: readonly Uint8Array[]): string {
  const digest = createHash('sha256')
  for (const item of items) digest.update(item)
  return digest.digest('hex')
}

/** The digest of a whole input: what is asked, then each chunk. @param about canonical text */
export class InputDigest {
  readonly #digest

  constructor(about: string) {
    this.#digest = createHash('sha256').update(`${about}\n`)
  }

  add(chunk: string): void {
    this.#digest.update(`${chunk}\n`)
  }

  finish(): string {
    return this.#digest.digest('hex')
  }
}
