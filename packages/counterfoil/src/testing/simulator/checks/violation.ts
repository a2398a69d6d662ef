import type { History } from '../history.ts'

/** Names of design.md section 4. */
export const invariants = [
  'I1',
  'I2',
  'I3',
  'I4',
  'I5',
  'I6',
  'I7',
  'I8',
  'I9',
  'I10',
  'I11',
  'I12',
  'I13',
  'I14',
  'I15',
  'I16',
  'I17',
  'I18',
  'I19',
  'I20',
  'I21',
  'I22',
] as const
/** One of I1 to I22 (docs/design.md, Invariants). */
export type Invariant = (typeof invariants)[number]

/** An invariant that a history breaks, and how. */
export interface Violation {
  readonly invariant: Invariant
  /** One sentence: what is so and may not be. */
  readonly says: string
  /** The delivery, effect or receipt that it is about, for the story. */
  readonly about: string
}

/** Looks at a history and says what may not be. Imports types only and shares no logic with the engine. */
export type Check = (
  history: History,
  found: (invariant: Invariant, about: string, says: string) => void,
) => void
