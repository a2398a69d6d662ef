import { nextStep, type Outcome } from '../../packages/counterfoil/src/domain/index.ts'
import { decide, type Learned } from '../../packages/counterfoil/src/engine/decide.ts'
import {
  begunRow,
  plannedRow,
  settledRow,
} from '../../packages/counterfoil/src/engine/fixtures/ledger-row.ts'
import { situationOf } from '../../packages/counterfoil/src/engine/situation.ts'
import type { EffectView } from '../../packages/counterfoil/src/store/index.ts'
import { nobody, type Scene, withAt } from './scene.ts'
import type { Call, Doing, State, Worker } from './state.ts'
import { leaseMs } from './timeline.ts'

/**
 * What workers do, one durable step at a time: the order of `engine/effects.ts`, every decision by the functions that
 * ship. Each returns the state after it, or null where it cannot be done. A lease that is renewed is not played: it is as one
 * that nobody saw end in time.
 */

export type Who = 0 | 1
type Of<Kind extends Doing['kind']> = Extract<Doing, { kind: Kind }>
const idle: Doing = { kind: 'idle' }

/** One transaction: the outbox record is consumed, and the effect created or found; or its receipt goes to quarantine. */
export function plan({ shape, events }: Scene, state: State, event: number): State | null {
  if (state.events[event] !== 'waiting') return null
  const place = events === 'ordered' ? event : 0
  const payload = events === 'conflict' ? `${event}` : 'p'
  const known = state.effects[place]!
  const conflicts = known !== null && known.fingerprint !== payload
  const moved = withAt(state.events, event, conflicts ? 'quarantined' : 'planned')
  if (known !== null) return { ...state, events: moved }
  const planned = plannedRow({
    id: place,
    recipient: 'far',
    key: `key/${place}`,
    name: 'act',
    fingerprint: payload,
    idempotencyKey: `cf_${place}`,
    order: shape.version === undefined ? null : { domain: 'd', version: event + 1 },
    plannedAt: state.now,
  } as never)
  return { ...state, events: moved, effects: withAt(state.effects, place, planned) }
}

/** Takes a due effect: a planned one is begun; for any other the policy is asked. `cut`: the bound forbids the attempt. */
export function take(scene: Scene, state: State, who: Who, effect: number): State | 'cut' | null {
  const row = state.effects[effect]!
  if (row === null || row.dueAt === null || row.dueAt > state.now) return null
  if (row.state === 'planned') return begin(scene, state, who, effect, 'begun', state.now)
  const leased = withEffect(state, effect, { ...row, dueAt: state.now + leaseMs }, who, true)
  return withDoing(leased, who, attention(scene, row, effect, state.now))
}

function attention({ shape }: Scene, row: EffectView, effect: number, now: number): Doing {
  const telling = (learned: Learned): Doing => ({
    kind: 'telling',
    effect,
    learned,
    attempts: row.attempts.length,
    fresh: true,
  })
  if (row.state === 'attempting') return telling({ kind: 'leaseEnded' })
  const step = nextStep(situationOf(shape.contract, row), now)
  switch (step.kind) {
    case 'lookup':
    case 'tombstone':
      return { kind: 'asking', effect, what: step.kind, askedAt: now, fresh: true }
    case 'repeat':
      return { kind: 'repeating', effect, decidedAt: now, fresh: true }
    case 'operator':
      return telling({ kind: 'escalate', why: step.why })
    case 'attempt':
    case 'wait':
    case 'done':
      return idle
  }
}

function begin(
  { attempts }: Scene,
  state: State,
  who: Who,
  effect: number,
  fact: 'begun' | 'repeatBegun',
  now: number,
): State | 'cut' {
  const row = state.effects[effect]!
  if (row.attempts.length >= attempts) return 'cut'
  const begun = begunRow(row, fact, { now, leaseMs, worker: 'w' })
  const leaseUntil = now + leaseMs
  const doing: Doing = { kind: 'begun', effect, attempt: begun.attempts.length, leaseUntil, fresh: true }
  return withDoing(withEffect(state, effect, begun, who), who, doing)
}

/** Begins the repeat that the policy allowed, if the effect is as it was. The lease counts from the decision. */
export function repeat(scene: Scene, state: State, who: Who): State | 'cut' {
  const { effect, decidedAt, fresh } = doingOf(state, who, 'repeating')
  const unchanged = fresh && state.effects[effect]!.state === 'unknown'
  return unchanged ? begin(scene, state, who, effect, 'repeatBegun', decidedAt) : withDoing(state, who, idle)
}

/** The first byte, after the check of the lease. */
export function send(state: State, who: Who): State {
  const { effect, attempt, fresh } = doingOf(state, who, 'begun')
  const { calls } = state.workers[who]
  const call: Call = { effect, attempt, answer: null, late: false }
  const payload = state.effects[effect]!.fingerprint
  const sent = { effect, attempt, sentAt: state.now, payload, copy: false }
  const worker: Worker = { doing: { kind: 'calling', effect, attempt, fresh }, calls: [...calls, call] }
  return { ...state, wire: [...state.wire, sent], workers: both(state, who, worker) }
}

export function mayStillSend(state: State, who: Who): boolean {
  return state.now < doingOf(state, who, 'begun').leaseUntil
}

/** Writes an outcome of the attempt in hand. Its call is forgotten, or kept for an answer that comes late. */
export function end(scene: Scene, state: State, who: Who, outcome: Outcome, late: boolean): State {
  const doing = state.workers[who].doing as Of<'begun' | 'calling'>
  const { effect, attempt, fresh } = doing
  const calls = state.workers[who].calls.flatMap((call) =>
    isOf(call, effect, attempt) ? (late ? [{ ...call, late }] : []) : [call],
  )
  const telling: Doing = {
    kind: 'telling',
    effect,
    learned: { kind: 'answer', attempt, outcome },
    attempts: attempt,
    fresh,
  }
  return tell(scene, { ...state, workers: both(state, who, { doing: telling, calls }) }, who)
}

/** Writes what the worker knows, deciding again on what the effect has become. */
export function tell({ shape }: Scene, state: State, who: Who): State {
  const { effect, learned, attempts, fresh } = doingOf(state, who, 'telling')
  const row = state.effects[effect]!
  const done = withDoing(state, who, idle)
  if (!fresh && oldNews(row, learned, attempts)) return done
  const decision = decide(row, shape.contract, 'owner', learned, state.now, 0)
  return decision === null ? done : withEffect(done, effect, settledRow(row, decision.settlement), who)
}

/** What `settle` in `engine/effects.ts` drops after it found the effect changed. */
function oldNews(row: EffectView, learned: Learned, attempts: number): boolean {
  if (learned.kind === 'leaseEnded') return row.state !== 'attempting' || row.attempts.length !== attempts
  if (learned.kind !== 'answer') return false
  const known = row.attempts.find(({ number }) => number === learned.attempt)
  return known?.outcome === learned.outcome.kind && known.why === learned.outcome.why
}

/** Beside whatever else the worker does: what a recipient said is always kept. */
export function hearLate(scene: Scene, state: State, who: Who, call: Call, outcome: Outcome): State {
  const { doing, calls } = state.workers[who]
  const learned: Learned = { kind: 'answer', attempt: call.attempt, outcome }
  const rest = calls.filter((other) => other !== call)
  const telling: Doing = {
    kind: 'telling',
    effect: call.effect,
    learned,
    attempts: call.attempt,
    fresh: false,
  }
  const told = tell(scene, { ...state, workers: both(state, who, { doing: telling, calls: rest }) }, who)
  const moved = told.effects[call.effect] !== state.effects[call.effect]
  return withDoing(told, who, moved ? unfresh(doing, call.effect) : doing)
}

export function die(state: State, who: Who): State {
  return { ...state, workers: both(state, who, nobody) }
}

export function release(state: State, who: Who): State {
  return withDoing(state, who, idle)
}

export function withDoing(state: State, who: Who, doing: Doing): State {
  return { ...state, workers: both(state, who, { ...state.workers[who], doing }) }
}

/** The state with another row; whoever else read the row before has an old one, unless only its lease is another. */
function withEffect(state: State, effect: number, row: EffectView, who: Who, onlyLeased = false): State {
  const effects = withAt(state.effects, effect, row)
  const other = (1 - who) as Who
  const { doing } = state.workers[other]
  const next = { ...state, effects }
  return onlyLeased ? next : withDoing(next, other, unfresh(doing, effect))
}

function unfresh(doing: Doing, effect: number): Doing {
  return doing.kind !== 'idle' && doing.effect === effect && doing.fresh ? { ...doing, fresh: false } : doing
}

export function doingOf<Kind extends Doing['kind']>(state: State, who: Who, _kind: Kind): Of<Kind> {
  return state.workers[who].doing as Of<Kind>
}

export function isOf(call: Call, effect: number, attempt: number): boolean {
  return call.effect === effect && call.attempt === attempt
}

export function both({ workers }: State, who: Who, worker: Worker): readonly [Worker, Worker] {
  return who === 0 ? [worker, workers[1]] : [workers[0], worker]
}
