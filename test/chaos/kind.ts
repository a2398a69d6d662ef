import type { Random } from 'counterfoil'
import type { Fleet } from './fleet.ts'
import type { Place } from './places.ts'
import type { Plant } from './planted.ts'

export type StoreKind = 'sqlite' | 'postgres'

/** What one episode is made of. */
export interface Setting {
  readonly store: StoreKind
  readonly seed: number
  readonly random: Random
  /** A directory of its own, which goes away afterwards. */
  readonly directory: string
  readonly servers: number
  readonly plant?: Plant | undefined
  /** To be done at the end, however far an episode came; the last first. */
  readonly defer: (undo: () => unknown) => void
}

/** A fleet under load, and the faults of one kind. */
export interface Stage {
  readonly place: Place
  readonly fleet: Fleet
  /** One fault, under load. Fulfils when it has happened. */
  strike(): Promise<void>
  /** Faults stop: everything that is down comes up. */
  calm(): Promise<void>
}

export interface Kind {
  readonly name: string
  /** One sentence. */
  readonly about: string
  /** What is counted: `kills`. */
  readonly unit: string
  readonly stores: readonly StoreKind[]
  /** How many are a full length. */
  readonly full: number
  /** How many are in one episode: then everything comes to rest and is checked, and a new store begins. */
  readonly episode: number
  /** Between two faults, in milliseconds. */
  readonly everyMs: readonly [least: number, most: number]
  readonly servers: number
  /** What must be found when it is planted. */
  readonly control: Plant
  /** Why this machine cannot, or undefined. */
  readonly missing?: (store: StoreKind) => string | undefined
  stage(setting: Setting): Promise<Stage>
}
