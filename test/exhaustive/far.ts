import type { Instant } from '../../packages/counterfoil/src/domain/index.ts'
import type { Shape } from '../../packages/counterfoil/src/engine/fixtures/shapes.ts'
import type { Far, Request } from './state.ts'
import { momentAfter } from './timeline.ts'

/** A recipient that keeps its contract to the letter and no further, as plain functions. Knows nothing of the engine. */

type Behaviour = Shape['recipient']

export function emptyFar(effects: number): Far {
  const keys = Array.from({ length: effects }, () => null)
  return { keys, closed: keys.map(() => false), version: 0, changed: false, due: [], acts: [] }
}

/** Takes a request in. @param fails it answers 500 instead of acting @returns its state then, and the status it answers */
export function receive(
  far: Far,
  { contract, recipient: behaviour }: Shape,
  request: Request,
  now: Instant,
  about: { readonly version: number; readonly showsAfterMs: number; readonly fails?: boolean },
): readonly [Far, number] {
  const { keyHeader, replays = 'first-success', acceptsForMs = Number.POSITIVE_INFINITY } = behaviour
  const known = keyHeader === null ? null : far.keys[request.effect]!
  if (known !== null) return [far, replays === 'nothing' ? 409 : known.status]
  if (now > request.sentAt + acceptsForMs) return [far, 422]
  if (far.closed[request.effect]) return [far, 412]
  const [after, status] = about.fails === true ? [far, 500] : act(far, behaviour, request, now, about.version)
  if (keyHeader === null || (status >= 300 && replays !== 'first-answer')) return [after, status]
  const until = momentAfter(now + (behaviour.remembersMs ?? Number.POSITIVE_INFINITY), contract)
  const entry = { until, status, done: status !== 202, shownAt: request.sentAt + about.showsAfterMs }
  return [{ ...after, keys: after.keys.map((key, i) => (i === request.effect ? entry : key)) }, status]
}

function act(
  far: Far,
  { fences, conditional, actsAfterMs }: Behaviour,
  request: Request,
  now: Instant,
  version: number,
): readonly [Far, number] {
  if (fences === true && version <= far.version) return [far, 412]
  if (conditional === true && far.changed) return [far, 412]
  const { effect, attempt } = request
  const changes = { version: fences === true ? version : 0, changed: conditional === true }
  if (actsAfterMs !== undefined)
    return [{ ...far, due: [...far.due, { effect, attempt, at: now + actsAfterMs }] }, 202]
  return [{ ...far, ...changes, acts: withAct(far.acts, { effect, attempt }) }, 200]
}

/** What a recipient without keys does for a copy that the network made, it does for the same attempt. */
function withAct(acts: Far['acts'], one: Far['acts'][number]): Far['acts'] {
  const known = acts.some(({ effect, attempt }) => effect === one.effect && attempt === one.attempt)
  return known ? acts : [...acts, one]
}

/** 200 acted, 202 taken on, 404 not there. */
export function lookup({ keys }: Far, effect: number): number {
  const known = keys[effect]!
  if (known === null || known.status >= 300) return 404
  return known.done ? 200 : 202
}

/** Closes a key: 200, or 409 when it has acted. */
export function close(far: Far, effect: number): readonly [Far, number] {
  if (lookup(far, effect) !== 404) return [far, 409]
  return [{ ...far, closed: far.closed.map((is, i) => is || i === effect) }, 200]
}

/** What time does to it: work taken on is done, keys are forgotten. */
export function passTime(far: Far, now: Instant): Far {
  const done = far.due.filter(({ at }) => at <= now)
  const keys = far.keys.map((known, effect) => {
    if (known === null || now >= known.until) return null
    const shownAt = known.shownAt <= now ? 0 : known.shownAt
    return { ...known, shownAt, done: known.done || done.some((one) => one.effect === effect) }
  })
  const acts = done.reduce((all, { effect, attempt }) => withAct(all, { effect, attempt }), far.acts)
  return { ...far, keys, acts, due: far.due.filter(({ at }) => at > now) }
}
