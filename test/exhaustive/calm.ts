import type { EffectView } from '../../packages/counterfoil/src/store/index.ts'
import { passTime } from './far.ts'
import { answered, answersOf, arrives, noAnswer, notSent, outcomeOf, toldOf } from './moves.ts'
import type { Scene } from './scene.ts'
import type { State } from './state.ts'
import { farAway, isFinal } from './timeline.ts'
import { end, isOf, mayStillSend, plan, repeat, send, take, tell, type Who, withDoing } from './work.ts'

/** Nothing is in work and nothing is on its way: what happens now, happens without a fault. */
export function isQuiet({ workers, wire }: State): boolean {
  return wire.length === 0 && workers.every(({ doing, calls }) => doing.kind === 'idle' && calls.length === 0)
}

/**
 * I22, from a quiet state: without further faults an effect becomes final, or it is given to a person; and the latter
 * only where the recipient has no evidence to give.
 *
 * @returns what is wrong
 */
export function brokenInCalm(scene: Scene, state: State): string | null {
  const last = rest({ ...scene, attempts: Number.POSITIVE_INFINITY }, state)
  if (last === null) return 'I22: it does not come to rest'
  for (const [place, effect] of last.effects.entries()) {
    if (effect === null) return 'I4: an event was not planned'
    if (isFinal(effect.state)) continue
    if (effect.state !== 'unknown' || !effect.escalated)
      return `I22: it ends ${effect.state} and nobody is told`
    const before = state.effects[place] ?? null
    if (hasEvidence(scene, state, before, place)) return 'I22: there is evidence, and it is left to a person'
  }
  return null
}

/**
 * After so many steps what goes on is asking to no avail, at intervals of five minutes for a day: the engine is as slow
 * from then on as it may be at any time.
 */
const exactSteps = 100
const slowlyMs = 3_600_000
const mostSteps = 500

/** One thing after the other until nothing more happens; time passes only when nothing else can. */
function rest(scene: Scene, from: State): State | null {
  let state = from
  for (let steps = 0; steps < mostSteps; steps++) {
    const next = step(scene, state) ?? wait(state, steps < exactSteps ? 0 : slowlyMs)
    if (next === null) return state
    state = next
  }
  return null
}

function step(scene: Scene, state: State): State | null {
  const [request] = state.wire
  if (request !== undefined) {
    const gone = { ...state, wire: state.wire.slice(1) }
    const [arrived, status] = arrives(scene, gone, request, false)
    return answered(arrived, request, status)
  }
  for (const event of [0, 1]) {
    const planned = plan(scene, state, event)
    if (planned !== null) return planned
  }
  return works(scene, state, 0)
}

function works(scene: Scene, state: State, who: Who): State | null {
  const { doing, calls } = state.workers[who]
  switch (doing.kind) {
    case 'idle':
      for (const effect of state.effects.keys()) {
        const taken = take(scene, state, who, effect)
        if (taken !== null && taken !== 'cut') return taken
      }
      return null
    case 'begun':
      return mayStillSend(state, who) ? send(state, who) : end(scene, state, who, notSent, false)
    case 'calling': {
      const { answer } = calls.find((call) => isOf(call, doing.effect, doing.attempt))!
      const outcome = answer === null ? noAnswer : outcomeOf(scene.shape.contract, answer)
      return end(scene, state, who, outcome, false)
    }
    case 'repeating':
      return repeat(scene, state, who) as State
    case 'asking': {
      const [[status, to]] = answersOf(scene, state, doing) as [readonly [number, State]]
      return withDoing(to, who, toldOf(scene.shape.contract, doing, status, state.now))
    }
    case 'telling':
      return tell(scene, state, who)
  }
}

/** @param leastMs how long at least */
function wait(state: State, leastMs: number): State | null {
  const due = [
    ...state.effects.flatMap((effect) => (effect === null || effect.dueAt === null ? [] : [effect.dueAt])),
    ...state.far.due.map(({ at }) => at),
  ].filter((at) => at > state.now)
  if (due.length === 0) return null
  const now = Math.max(Math.min(...due), state.now + leastMs)
  return { ...state, now, far: passTime(state.far, now) }
}

/** What the recipient could say of it, by its own books and its contract; the engine's policy is not asked. */
function hasEvidence(
  { shape }: Scene,
  { far, now }: State,
  effect: EffectView | null,
  place: number,
): boolean {
  if (effect === null || effect.state === 'planned') return true
  if (now >= farAway) return false
  const { idempotency, lookup, ordering } = shape.contract
  const known = far.keys[place] ?? null
  const acted = far.acts.some((act) => act.effect === place)
  if (ordering?.tombstone !== undefined) return true
  if (lookup !== undefined && (lookup.absence.final || known?.done === true)) return true
  if (ordering?.conditional !== undefined && !acted) return true
  const replays = idempotency?.replays === 'first-success' || idempotency?.replays === 'first-answer'
  return replays && (known === null || known.status < 300)
}
