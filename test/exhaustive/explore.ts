import { brokenBy } from './laws.ts'
import { moves } from './moves.ts'
import { initialState, type Scene } from './scene.ts'
import { keyOf, type State } from './state.ts'

export interface Explored {
  readonly states: number
  readonly steps: number
  /** States where the policy allows an attempt beyond the bound of the scene. */
  readonly cut: number
  /** Moves from the start to the state that breaks an invariant, and which it breaks; null when none does. */
  readonly violation: { readonly broken: string; readonly story: readonly string[] } | null
  /** There were more states than may be: nothing is proved. */
  readonly bounded: boolean
}

/** Breadth first from the initial state: the whole space, or the shortest way to a violation. */
export function explore(scene: Scene, mostStates = 3_000_000): Explored {
  const first = initialState(scene)
  const known = new Map<string, number>([[keyOf(first), 0]])
  const queue: (State | null)[] = [first]
  const cameFrom: number[] = [-1]
  const says: string[] = ['']
  let steps = 0
  let cut = 0
  const story = (last: number): string[] => {
    const told: string[] = []
    for (let at = last; at > 0; at = cameFrom[at]!) told.unshift(says[at]!)
    return told
  }
  for (let next = 0; next < queue.length; next++) {
    const state = queue[next]!
    queue[next] = null
    const from = moves(scene, state)
    if (from.cut) cut++
    for (const move of from.found) {
      steps++
      const broken = brokenBy(scene, state, move.to)
      if (broken !== null) {
        const told = [...story(next), move.says]
        return { states: known.size, steps, cut, violation: { broken, story: told }, bounded: false }
      }
      const key = keyOf(move.to)
      if (known.has(key)) continue
      if (known.size >= mostStates) return { states: known.size, steps, cut, violation: null, bounded: true }
      known.set(key, queue.length)
      cameFrom.push(next)
      says.push(move.says)
      queue.push(move.to)
    }
  }
  return { states: known.size, steps, cut, violation: null, bounded: false }
}
