import { brokenInCalm, isQuiet } from './calm.ts'
import { brokenBy } from './laws.ts'
import { moves } from './moves.ts'
import { initialState, type Scene } from './scene.ts'
import { keyOf, type State } from './state.ts'

export interface Explored {
  readonly states: number
  readonly steps: number
  /** States in which nothing is in work or on its way: from each, the rest without a fault was followed to its end. */
  readonly quiet: number
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
  let quiet = 0
  const end = (violation: Explored['violation'], bounded = false) => ({
    states: known.size,
    steps,
    quiet,
    cut,
    violation,
    bounded,
  })
  for (let next = 0; next < queue.length; next++) {
    const state = queue[next]!
    queue[next] = null
    if (isQuiet(state)) {
      quiet++
      const broken = brokenInCalm(scene, state)
      if (broken !== null) return end({ broken, story: [...story(next), 'and no fault any more'] })
    }
    const from = moves(scene, state)
    if (from.cut) cut++
    for (const move of from.found) {
      steps++
      const broken = brokenBy(scene, state, move.to)
      if (broken !== null) {
        return end({ broken, story: [...story(next), move.says] })
      }
      const key = keyOf(move.to)
      if (known.has(key)) continue
      if (known.size >= mostStates) return end(null, true)
      known.set(key, queue.length)
      cameFrom.push(next)
      says.push(move.says)
      queue.push(move.to)
    }
  }
  return end(null)
}
