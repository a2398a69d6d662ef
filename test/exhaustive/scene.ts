import type { Shape } from '../../packages/counterfoil/src/engine/fixtures/shapes.ts'
import { emptyFar } from './far.ts'
import type { State, Worker } from './state.ts'

/** What is explored: a contract with a recipient that keeps it, and what the two events ask for. */
export interface Scene {
  readonly shape: Shape
  /**
   * `shared`: both plan the same effect. `conflict`: the same key with another payload. `ordered`: two effects of one
   * ordering domain.
   */
  readonly events: 'shared' | 'conflict' | 'ordered'
  /** Attempts that may be begun of an effect. */
  readonly attempts: number
}

/** Two effects of one ordering domain where the recipient orders; otherwise two events that cause one effect. */
export function sceneOf(shape: Shape, attempts: number): Scene {
  return { shape, events: 'version' in shape ? 'ordered' : 'shared', attempts }
}

export const nobody: Worker = { doing: { kind: 'idle' }, calls: [] }

export function initialState({ events }: Scene): State {
  const effects = events === 'ordered' ? [null, null] : [null]
  const far = emptyFar(effects.length)
  return { now: 0, events: ['waiting', 'waiting'], effects, workers: [nobody, nobody], wire: [], far }
}

/** A copy with one place changed. */
export function withAt<Value>(values: readonly Value[], place: number, value: Value): Value[] {
  return values.map((before, index) => (index === place ? value : before))
}
