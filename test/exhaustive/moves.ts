import {
  type Contract,
  classify,
  classifyLookup,
  classifyTombstone,
  type Exchange,
  type Instant,
  type Outcome,
  transition,
} from '../../packages/counterfoil/src/domain/index.ts'
import { close, lookup, passTime, receive } from './far.ts'
import { type Scene, withAt } from './scene.ts'
import type { Call, Doing, Request, State } from './state.ts'
import { tidied } from './tidy.ts'
import { absenceMs, farAway, isFinal, lastMoment, momentsOf } from './timeline.ts'
import {
  die,
  end,
  hearLate,
  isOf,
  mayStillSend,
  plan,
  release,
  repeat,
  send,
  take,
  tell,
  type Who,
  withDoing,
} from './work.ts'

export interface Move {
  readonly says: string
  readonly to: State
}

/** Every move that a part of the system, its network or a person can make from here, faults among them. */
export function moves(scene: Scene, state: State): { readonly found: Move[]; readonly cut: boolean } {
  const found: Move[] = []
  let cut = false
  const add = (says: string, to: State | 'cut' | null) => {
    if (to === 'cut') cut = true
    else if (to !== null) found.push({ says, to: tidied(scene, state, to) })
  }
  // Two events that ask for the same may change places; and to plan what is planned already reads what never changes, and
  // moves nothing but its own event.
  for (const event of scene.events === 'shared' ? [0] : [0, 1]) {
    if (state.effects[scene.events === 'ordered' ? event : 0] === null)
      add(`event ${event + 1} is planned`, plan(scene, state, event))
  }
  // Of two workers that do the same, either may be the one that goes on.
  const others = state.workers[0] === state.workers[1] ? ([0] as const) : ([0, 1] as const)
  for (const who of others) {
    works(scene, state, who, add)
    if (state.workers[who].doing.kind !== 'idle' || state.workers[who].calls.length > 0)
      add(`worker ${who + 1} dies`, die(state, who))
  }
  for (const request of state.wire) travels(scene, state, request, add)
  for (const effect of state.effects.keys()) decides(state, effect, add)
  add('time passes', later(scene, state))
  return { found, cut }
}

type Add = (says: string, to: State | 'cut' | null) => void

// A worker. Between two of its moves any time may pass: it may be paused, and its lease may end.

function works(scene: Scene, state: State, who: Who, add: Add): void {
  const { doing, calls } = state.workers[who]
  const name = `worker ${who + 1}`
  /** The move; and the same one committed, of which its worker is told that nobody knows. */
  const orNobodyKnows = (says: string, to: State | 'cut' | null, then: (to: State) => State) => {
    add(`${name} ${says}`, to)
    if (to !== null && to !== 'cut') add(`${name} ${says}, and nobody knows`, then(to))
  }
  switch (doing.kind) {
    case 'idle':
      for (const effect of state.effects.keys())
        orNobodyKnows(`takes effect ${effect + 1}`, take(scene, state, who, effect), (to) => release(to, who))
      break
    case 'begun':
      if (mayStillSend(state, who)) add(`${name} sends`, send(state, who))
      add(`${name} sends nothing`, end(scene, state, who, notSent, false))
      break
    case 'calling': {
      const { answer } = calls.find((call) => isOf(call, doing.effect, doing.attempt))!
      const ends = (says: string, outcome: Outcome, late: boolean) =>
        orNobodyKnows(says, end(scene, state, who, outcome, late), (to) =>
          withDoing(to, who, {
            kind: 'telling',
            effect: doing.effect,
            learned: { kind: 'answer', attempt: doing.attempt, outcome },
            attempts: doing.attempt,
            fresh: false,
          }),
        )
      if (answer !== null) ends(`is answered ${answer}`, outcomeOf(scene.shape.contract, answer), false)
      ends('gets no answer', noAnswer, true)
      break
    }
    case 'repeating':
      orNobodyKnows('repeats', repeat(scene, state, who), (to) => release(to, who))
      break
    case 'asking':
      for (const [status, to] of answersOf(scene, state, doing)) {
        add(
          `${name} is told ${status ?? 'nothing'} of its ${doing.what}`,
          withDoing(to, who, toldOf(scene.shape.contract, doing, status, state.now)),
        )
      }
      break
    case 'telling':
      if (!doing.fresh) {
        add(`${name} writes ${doing.learned.kind} again`, tell(scene, state, who))
        break
      }
      orNobodyKnows(`writes ${doing.learned.kind}`, tell(scene, state, who), (to) =>
        withDoing(to, who, { ...doing, fresh: false }),
      )
  }
  for (const call of calls) {
    if (call.late && call.answer !== null) {
      const outcome = outcomeOf(scene.shape.contract, call.answer)
      add(`${name} reads a late answer`, hearLate(scene, state, who, call, outcome))
    }
  }
}

/** What a question may be answered: the truth, nothing, and what the contract leaves open. */
export function answersOf(
  { shape }: Scene,
  state: State,
  { effect, what }: { readonly effect: number; readonly what: 'lookup' | 'tombstone' },
): readonly (readonly [number | null, State])[] {
  if (what === 'tombstone') {
    const [far, status] = close(state.far, effect)
    return [
      [status, { ...state, far }],
      [null, { ...state, far }],
      [500, { ...state, far }],
      [null, state],
      [500, state],
    ]
  }
  const truth = lookup(state.far, effect)
  const known = state.far.keys[effect]
  const mayHide = shape.contract.lookup?.absence.final === false || (known?.shownAt ?? 0) > state.now
  const hidden = mayHide && truth !== 404 ? ([[404, state]] as const) : []
  return [[truth, state], [null, state], [500, state], ...hidden]
}

/** What a worker knows once its question is answered. */
export function toldOf(
  contract: Contract,
  { effect, what, askedAt, fresh }: Extract<Doing, { kind: 'asking' }>,
  status: number | null,
  now: Instant,
): Doing {
  const exchange = status === null ? unclear : answer(status)
  // When it was answered matters only where a key may be forgotten by then.
  const times = { askedAt, answeredAt: now > farAway ? now : 0 }
  const learned =
    what === 'lookup'
      ? { ...times, kind: what, finding: classifyLookup(contract, exchange) }
      : { ...times, kind: what, finding: classifyTombstone(contract, exchange) }
  return { kind: 'telling', effect, learned, attempts: 0, fresh }
}

// The network and the recipient.

function travels(scene: Scene, state: State, request: Request, add: Add): void {
  const { effect, attempt, copy } = request
  const name = `${copy ? 'the copy' : 'the request'} of attempt ${attempt} of effect ${effect + 1}`
  const gone = { ...state, wire: state.wire.filter((other) => other !== request) }
  add(`${name} is lost`, gone)
  const [arrived, status] = arrives(scene, gone, request, false)
  add(`${name} arrives and its answer is lost`, arrived)
  if (copy) return
  const left = { ...arrived, wire: [...arrived.wire, { ...request, copy: true }] }
  add(`${name} arrives twice`, answered(left, request, status))
  add(`${name} arrives`, answered(arrived, request, status))
  add(`${name} arrives and is answered 500`, answered(arrived, request, 500))
  add(`${name} arrives and fails`, answered(arrives(scene, gone, request, true)[0], request, 500))
}

export function arrives(
  { shape }: Scene,
  state: State,
  request: Request,
  fails: boolean,
): readonly [State, number] {
  const showsAfterMs = shape.contract.lookup?.absence.final === true ? absenceMs : 0
  const version = state.effects[request.effect]!.order?.version ?? 0
  const about = { version, showsAfterMs, fails }
  const [far, status] = receive(state.far, shape, request, state.now, about)
  return [{ ...state, far }, status]
}

/** The answer is on its way to the worker that waits for it, or there is none. */
export function answered(state: State, { effect, attempt }: Request, status: number): State {
  const workers = state.workers.map((worker) => ({
    ...worker,
    calls: worker.calls.map(
      (call): Call => (isOf(call, effect, attempt) ? { ...call, answer: status } : call),
    ),
  }))
  return { ...state, workers: workers as unknown as State['workers'] }
}

// People: whoever decides has looked at the recipient, and decides on what is so.

function decides(state: State, effect: number, add: Add): void {
  const row = state.effects[effect]!
  if (row === null || isFinal(row.state)) return
  const acted = state.far.acts.some((act) => act.effect === effect)
  const canAct =
    state.wire.some((request) => request.effect === effect) ||
    state.far.due.some((due) => due.effect === effect) ||
    state.workers.some(({ doing }) => doing.kind === 'begun' && doing.effect === effect)
  const facts = acted
    ? (['operatorConfirmed'] as const)
    : canAct
      ? []
      : (['operatorRefused', 'operatorWithdrew'] as const)
  for (const fact of facts) {
    const step = transition(row.state, fact)
    if (step.kind !== 'moves') continue
    const evidence = {
      at: 0,
      kind: 'operator',
      fact,
      from: row.state,
      to: step.to,
      why: 'seen',
      by: 'ann',
    } as const
    const closed = row.attempts.map((attempt) => ({ ...attempt, open: false }))
    const decided = {
      ...row,
      state: step.to,
      dueAt: null,
      escalated: false,
      attempts: closed,
      evidence: [...row.evidence, { ...evidence, attempt: null, status: null, correlation: null }],
    }
    const stale = state.workers.map((worker) => {
      const { doing } = worker
      return doing.kind === 'idle' || doing.effect !== effect
        ? worker
        : { ...worker, doing: { ...doing, fresh: false } }
    })
    add(`an operator says: ${fact}`, {
      ...state,
      effects: withAt(state.effects, effect, decided),
      workers: stale as unknown as State['workers'],
    })
  }
}

// Time.

/** To the next moment. Time before the first attempt counts for nothing, so none passes. */
export function later(scene: Scene, state: State): State | null {
  const begun = state.effects.some((effect) => (effect?.attempts.length ?? 0) > 0)
  if (!begun || state.now >= lastMoment) return null
  return passesTo(scene, state, momentsOf(scene.shape.contract).find((moment) => moment > state.now)!)
}

/** A request that is still on its way when its key may be forgotten is beyond what anyone can refuse: docs/contracts.md. */
export function passesTo({ shape }: Scene, state: State, now: Instant): State {
  const { remembersMs = Number.POSITIVE_INFINITY } = shape.recipient
  return {
    ...state,
    now,
    wire: state.wire.filter(({ sentAt }) => now - sentAt <= remembersMs / 10),
    far: passTime(state.far, now),
  }
}

// What answers prove, by the functions that ship.

export const notSent: Outcome = { kind: 'notActed', why: 'nothing was sent' }
const unclear: Exchange = { kind: 'unclear', why: 'no answer' }
export const noAnswer: Outcome = classify({}, unclear, 0)

const read = new WeakMap<Contract, Map<number, Outcome>>()

export function outcomeOf(contract: Contract, status: number): Outcome {
  const known = read.get(contract) ?? new Map<number, Outcome>()
  read.set(contract, known)
  const outcome = known.get(status) ?? classify(contract, answer(status), 0)
  known.set(status, outcome)
  return outcome
}

const nothing = new Uint8Array(0)

function answer(status: number): Exchange {
  return { kind: 'answered', status, headers: {}, body: nothing }
}
