import { brokenInCalm, isQuiet } from './calm.ts'
import { brokenBy } from './laws.ts'
import { type Move, moves } from './moves.ts'
import { Packing } from './packing.ts'
import { initialState, type Scene } from './scene.ts'
import { Seen } from './seen.ts'

export interface Explored {
  readonly states: number
  readonly steps: number
  /** Moves from the start to the state that is farthest from it. */
  readonly depth: number
  /** States in which nothing is in work or on its way: from each, the rest without a fault was followed to its end. */
  readonly quiet: number
  /** States where the policy allows an attempt beyond the bound of the scene. */
  readonly cut: number
  /** Moves from the start to the state that breaks an invariant, and which it breaks; null when none does. */
  readonly violation: { readonly broken: string; readonly story: readonly string[] } | null
  /** There were more states than may be: nothing is proved beyond those. */
  readonly bounded: boolean
  /** How many different parts the states are made of. */
  readonly parts: Readonly<Record<string, number>>
}

/** Breadth first from the initial state: the whole space, or the shortest way to a violation. */
export function explore(scene: Scene, mostStates = 3_000_000): Explored {
  const packing = new Packing(scene)
  const seen = new Seen()
  packing.pack(initialState(scene), packing.words)
  seen.add(packing.words, 0)
  let [steps, cut, quiet, depth, lastOfDepth] = [0, 0, 0, 0, 0]
  const end = (violation: Explored['violation'], bounded = false) => ({
    states: seen.size,
    steps,
    depth,
    quiet,
    cut,
    violation,
    bounded,
    parts: packing.sizes,
  })
  for (let next = 0; next < seen.size; next++) {
    if (next > lastOfDepth) {
      depth++
      lastOfDepth = seen.size - 1
    }
    const words = seen.words(next)
    const state = packing.unpack(words)
    if (isQuiet(state)) {
      quiet++
      const broken = brokenInCalm(scene, state)
      if (broken !== null)
        return end({ broken, story: [...story(scene, packing, seen, next, null), 'and no fault any more'] })
    }
    const from = moves(scene, state)
    if (from.cut) cut++
    for (const move of from.found) {
      steps++
      const broken = brokenBy(scene, state, move.to)
      if (broken !== null) return end({ broken, story: story(scene, packing, seen, next, move) })
      packing.pack(move.to, words)
      if (seen.add(packing.words, next) && seen.size > mostStates) return end(null, true)
    }
  }
  return end(null)
}

/** The moves that led to a state, and one more. Workers change places in packed states; here each keeps its name. */
function story(scene: Scene, packing: Packing, seen: Seen, last: number, then: Move | null): string[] {
  const way = [last]
  while (way[0]! > 0) way.unshift(seen.cameFrom(way[0]!))
  let swapped = false
  const told: string[] = []
  const tell = (says: string) =>
    told.push(swapped ? says.replace(/^worker ([12])/, (_, who) => `worker ${3 - Number(who)}`) : says)
  for (const [step, index] of way.entries()) {
    const to = way[step + 1]
    if (to === undefined) break
    const words = seen.words(index)
    const target = seen.words(to)
    for (const move of moves(scene, packing.unpack(words)).found) {
      packing.pack(move.to, words)
      if (!packing.words.every((word, place) => word === target[place])) continue
      tell(move.says)
      swapped = swapped !== packing.swapped
      break
    }
  }
  if (then !== null) tell(then.says)
  return told
}
