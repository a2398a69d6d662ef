import type { Contract } from '../../domain/index.ts'
import type { Promises } from './history.ts'

/** A shape of contract, and what the simulated recipient behind it really does. */
export interface Shape {
  readonly contract: Contract
  readonly promises: Promises
  /** How long after it was sent a request may still act there; what comes later is refused. */
  readonly acceptsForMs: number
  /** A repeat that comes while the first request is in work gets 409. */
  readonly tellsInFlight: boolean
  /** How long an act may be missing from its lookups, in milliseconds: as long as the contract allows. */
  readonly lookupLagMs: number
}

const minute = 60_000
const hour = 60 * minute
const forever = Number.POSITIVE_INFINITY

const key = {
  header: 'Idempotency-Key',
  remembersFor: '1h',
  otherPayload: 'refused',
  replays: 'first-success',
} as const
const { header: _, ...elsewhere } = key
const inBody = { ...elsewhere, pointer: '/key' } as const
const knows = { ...key, replays: 'nothing' } as const
const final = { by: 'key', path: '/acts/{key}', absence: { final: true, after: '60s' } } as const
const hint = { ...final, absence: { final: false } } as const
const fence = { fence: { header: 'Fence-Version', domain: 'Fence-Domain', rejectedWith: 412 } } as const
const closes = {
  tombstone: { method: 'PUT', path: '/closed/{key}', answers: [{ status: 409, means: 'acted' }] },
} as const

const none: Promises = {
  repeats: null,
  remembersErrors: false,
  remembersMs: 0,
  unstated: false,
  lookup: null,
  fences: false,
  conditional: false,
  tombstones: false,
  defers: false,
}
const replays: Promises = { ...none, repeats: 'replayed', remembersMs: hour }
const refuses: Promises = { ...none, repeats: 'refused', remembersMs: hour }

function shape(contract: Contract, promises: Promises, more: Partial<Shape> = {}): Shape {
  const { lookup } = promises
  // Where absence is final a request must not act after it: the contract says 60 s, the recipient keeps to 40.
  const acceptsForMs = lookup !== null && lookup.finalAfterMs !== null ? 40_000 : forever
  const lookupLagMs = lookup === null ? 0 : lookup.finalAfterMs === null ? forever : 40_000
  return { contract, promises, acceptsForMs, tellsInFlight: false, lookupLagMs, ...more }
}

const finally60 = { finalAfterMs: 60_000 }
const hints = { finalAfterMs: null }

/** The shapes that recipients have, but for the guard, which is the real one. */
export const shapes = {
  idempotent: shape({ idempotency: key }, replays),
  'first answer': shape(
    { idempotency: { ...key, replays: 'first-answer' } },
    { ...replays, remembersErrors: true },
  ),
  // Its contract does not say what a key in flight gets.
  'key in the body': shape({ idempotency: inBody }, replays, { tellsInFlight: true }),
  'in flight': shape({ idempotency: { ...key, inFlight: { status: 409 } } }, replays, {
    tellsInFlight: true,
  }),
  'short memory': shape(
    { idempotency: { ...key, remembersFor: '5m' } },
    { ...replays, remembersMs: 5 * minute },
  ),
  'unstated memory': shape(
    { idempotency: { ...key, remembersFor: 'unstated' } },
    { ...replays, unstated: true },
  ),
  queryable: shape({ idempotency: knows, lookup: final }, { ...refuses, lookup: finally60 }),
  hinting: shape({ idempotency: knows, lookup: hint }, { ...refuses, lookup: hints }),
  both: shape({ idempotency: key, lookup: final }, { ...replays, lookup: finally60 }),
  'both, hinting': shape({ idempotency: key, lookup: hint }, { ...replays, lookup: hints }),
  neither: shape({}, none),
  fence: shape({ ordering: fence }, { ...none, fences: true }),
  'fence and key': shape({ idempotency: key, ordering: fence }, { ...replays, fences: true }),
  tombstone: shape({ idempotency: knows, ordering: closes }, { ...refuses, tombstones: true }),
  conditional: shape(
    { ordering: { conditional: { header: 'If-Match', rejectedWith: 412 } } },
    { ...none, conditional: true },
  ),
  deferring: shape(
    {
      idempotency: key,
      lookup: { ...hint, answers: [{ status: 202, means: 'pending' }] },
      outcomes: [{ status: 202, means: 'accepted' }],
    },
    { ...replays, lookup: hints, defers: true },
  ),
} as const satisfies Record<string, Shape>

/** A shape of contract that the simulator plays; `shapeNames` lists them. */
export type ShapeName = keyof typeof shapes | 'guard' | 'guard that forgets'

/** What the two guards promise; their contracts are those that the guard itself publishes. */
export const guardPromises = {
  guard: {
    ...none,
    repeats: 'replayed',
    remembersMs: hour,
    lookup: { finalAfterMs: 45_000, findsForMs: forever },
    fences: true,
    tombstones: true,
  },
  'guard that forgets': {
    ...none,
    repeats: 'replayed',
    remembersMs: hour,
    lookup: hints,
    fences: true,
    tombstones: true,
  },
} as const satisfies Record<string, Promises>

/** Every shape of contract that the simulator plays. */
export const shapeNames: readonly ShapeName[] = [
  ...(Object.keys(shapes) as (keyof typeof shapes)[]),
  'guard',
  'guard that forgets',
]

export function promisesOf(name: ShapeName): Promises {
  return name === 'guard' || name === 'guard that forgets' ? guardPromises[name] : shapes[name].promises
}
