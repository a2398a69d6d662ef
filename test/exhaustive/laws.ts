import type { EffectView } from '../../packages/counterfoil/src/store/index.ts'
import type { Scene } from './scene.ts'
import type { State } from './state.ts'

/**
 * The invariants of design.md section 4 that speak of effects, by the recipient's own count. Types apart, nothing of
 * the engine is used here.
 *
 * @returns a sentence for the first that is broken
 */
export function brokenBy(scene: Scene, before: State | null, state: State): string | null {
  for (const [place, effect] of state.effects.entries()) {
    if (effect === null) continue
    const broken =
      ofEffect(state, effect, place) ??
      (before === null
        ? null
        : (ofStep(before.effects[place] ?? null, effect) ?? ofRepeat(scene, before, state, place)))
    if (broken !== null) return broken
  }
  return ofEvents(state)
}

function ofEvents({ events, effects, wire }: State): string | null {
  for (const { payload, effect } of wire)
    if (payload !== effects[effect]?.fingerprint) return 'I17: a payload left that is not the planned one'
  if (events.every((place) => place === 'quarantined')) return 'I4: nothing was planned of a conflict'
  return null
}

function ofEffect({ far, wire }: State, effect: EffectView, place: number): string | null {
  const acts = far.acts.filter((act) => act.effect === place).length
  const { state, attempts } = effect
  if (acts > 1) return `I9: ${acts} attempts acted`
  if (state === 'confirmed' && acts === 0) return 'I20: confirmed, and nothing acted'
  if ((state === 'refused' || state === 'fenced' || state === 'withdrawn') && acts > 0)
    return `I15, I20: ${state}, and it acted`
  if (state === 'planned' && acts > 0) return 'I13: planned, and it acted'
  for (const request of wire)
    if (request.effect === place && request.attempt > attempts.length)
      return 'I5: a request without its attempt'
  if (attempts.slice(0, -1).some(({ outcome }) => outcome === null)) return 'two attempts in flight'
  if (effect.dueAt === null && !isEnd(state) && !effect.escalated) return 'I22: nobody looks at it again'
  if (isEnd(state) && !proven(effect)) return `I20: ${state} without evidence`
  return null
}

/** What one move did to an effect. */
function ofStep(before: EffectView | null, after: EffectView): string | null {
  if (before === null || before === after) return null
  if (isEnd(before.state) && before.state !== after.state)
    return `I12: ${before.state} moved to ${after.state}`
  return null
}

/** I10, I11, I16: what goes out while an earlier attempt may still act needs the contract's leave. */
function ofRepeat(
  { shape }: Scene,
  before: State,
  { wire, effects, now }: State,
  place: number,
): string | null {
  const sent = wire.at(-1)
  if (wire.length <= before.wire.length || sent === undefined || sent.copy || sent.effect !== place)
    return null
  const { attempts } = effects[place]!
  if (!attempts.some(({ number, open }) => number < sent.attempt && open)) return null
  const { idempotency, ordering } = shape.contract
  if (ordering?.conditional !== undefined) return null
  if (idempotency === undefined) return 'I11: repeated where the recipient recognises nothing'
  if (idempotency.replays === 'nothing') return 'I10: repeated without proven absence'
  const rememberedUntil = attempts[0]!.begunAt + 24 * 3_600_000
  return now >= rememberedUntil ? 'I16: repeated after the key may be forgotten' : null
}

function proven({ state, attempts, evidence }: EffectView): boolean {
  return attempts.some(({ outcome }) => outcome === state) || evidence.some(({ to }) => to === state)
}

function isEnd(state: EffectView['state']): boolean {
  return ['confirmed', 'refused', 'fenced', 'withdrawn'].includes(state)
}
