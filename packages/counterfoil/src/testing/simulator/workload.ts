import type { Draws } from './draws.ts'
import type { PlannedDelivery, PlannedOperation } from './history.ts'

/** The data of every event here. */
export interface OrderData {
  readonly order: number
  readonly amount: number
  readonly version: number
}

/** Deliveries of one schedule are sent within this time. */
export const busyMs = 60_000

/** Marks a text that may stand in no receipt, log line or answer. */
export const payloadMark = 'private-note-7f3a'

/**
 * The recipients of one schedule, by the part that they play. `main` gets an effect of nearly every event, `side`
 * one of some, and `later` only of the trigger version that is deployed in the middle.
 */
export const parts = ['main', 'side', 'later'] as const
export type Part = (typeof parts)[number]

interface EventType {
  readonly producer: 'std' | 'hub'
  readonly type: string
  /** Which operations a plan of it declares; those of `later` in the second version alone. */
  readonly plans: readonly { readonly part: Part; readonly op: string }[]
}

/** What each type of event leads to. `N` stands for the order, `V` for the version in the event. */
export const eventTypes = {
  placed: {
    producer: 'std',
    type: 'order.placed',
    plans: [
      { part: 'main', op: 'order/N/act' },
      { part: 'later', op: 'order/N/later' },
    ],
  },
  approved: { producer: 'hub', type: 'approval', plans: [{ part: 'main', op: 'order/N/act' }] },
  changed: { producer: 'std', type: 'order.changed', plans: [{ part: 'side', op: 'order/N/version/V' }] },
  written: { producer: 'hub', type: 'writing', plans: [{ part: 'side', op: 'order/N/written' }] },
  poison: { producer: 'std', type: 'order.poison', plans: [] },
  flaky: { producer: 'std', type: 'order.flaky', plans: [{ part: 'main', op: 'order/N/flaky' }] },
  /** Supported by the second version alone. */
  cancelled: { producer: 'std', type: 'order.cancelled', plans: [{ part: 'later', op: 'order/N/cancel' }] },
  /** Supported by none. */
  unheard: { producer: 'std', type: 'order.unheard', plans: [] },
} as const satisfies Record<string, EventType>
export type EventName = keyof typeof eventTypes

export function opOf(pattern: string, { order, version }: OrderData): string {
  return pattern.replace('N', String(order)).replace('V', String(version))
}

/** The bytes that an operation's request has at its recipient. */
export function bodyOf(op: string, data: OrderData): string {
  return JSON.stringify({ op, amount: data.amount })
}

const common: readonly EventName[] = [
  'placed',
  'approved',
  'changed',
  'changed',
  'written',
  'placed',
  'flaky',
]
const rare: readonly EventName[] = ['poison', 'cancelled', 'unheard', 'flaky']
const variants = ['copy', 'copy', 'copy', 'altered', 'readdressed', 'forged', 'stale', 'broken'] as const

/** The deliveries of a seed: events, and what a network, a careless producer or a stranger makes of them. */
export function deliveriesOf(draws: Draws): PlannedDelivery[] {
  const made: PlannedDelivery[] = []
  const events = 2 + draws.below(3, 'event', 0)
  for (let n = 0; n < events; n++) {
    const name = draws.chance(0.2, 'event', n, 1)
      ? draws.pick(rare, 'event', n, 2)
      : draws.pick(common, 'event', n, 3)
    const data = {
      order: draws.below(3, 'order', n),
      amount: draws.chance(0.15, 'order', n, 1) ? 11 : 10,
      version: 1 + draws.below(4, 'order', n, 2),
    }
    const spoiled = draws.chance(0.04, 'order', n, 3)
    made.push(plain(made.length, name, data, spoiled, draws.below(busyMs, 'time', n)))
  }
  const extras = 2 + draws.below(4, 'variant', 0)
  for (let n = 1; n <= extras; n++) {
    const of = made[draws.below(events, 'variant', n)]!
    const variant = draws.pick(variants, 'variant', n, 1)
    const at = of.at + draws.below(draws.chance(0.7, 'time', n, 1) ? 300 : 200_000, 'time', n, 2)
    made.push(varied(made.length, of, variant, at))
  }
  return made.sort((a, b) => a.at - b.at).map((delivery, index) => ({ ...delivery, index }))
}

function plain(
  index: number,
  name: EventName,
  data: OrderData,
  spoiled: boolean,
  at: number,
): PlannedDelivery {
  const { producer, type, plans } = eventTypes[name]
  const payload = { ...data, ...(spoiled ? { amount: 'much' } : {}), note: payloadMark, event: index }
  const body = JSON.stringify(
    producer === 'std' ? { type, timestamp: '2026-01-01T00:00:00Z', data: payload } : payload,
  )
  const operations = spoiled ? [] : plans.map(({ part, op }) => operationOf(part, opOf(op, data), data))
  const id = `e${index}`
  const startsNothing = spoiled || name === 'unheard'
  const poison = name === 'poison'
  return { index, at, producer, id, type, body, variant: 'plain', operations, poison, startsNothing }
}

function dataOf(body: string): OrderData {
  const payload = JSON.parse(body)
  return payload.data ?? payload
}

function operationOf(recipient: Part, op: string, data: OrderData): PlannedOperation {
  return { recipient, op, body: bodyOf(op, data) }
}

function varied(
  index: number,
  of: PlannedDelivery,
  variant: (typeof variants)[number],
  at: number,
): PlannedDelivery {
  const same = { ...of, index, at, variant }
  switch (variant) {
    case 'copy':
      return same
    case 'altered': {
      // Another amount, so that whatever came of it could be told from the first.
      const amount = `"amount":${90 + index}`
      const body = of.body.replace(/"amount":(\d+|"much")/, amount)
      // A sound amount in place of a spoiled one starts what that one did not: either of the two may be the first.
      const about = Object.values(eventTypes).find(({ type }) => type === of.type)
      const operations = (about?.plans ?? []).map(({ part, op }) =>
        operationOf(part, opOf(op, dataOf(body)), dataOf(body)),
      )
      return {
        ...same,
        body,
        operations,
        startsNothing: operations.length === 0 && of.startsNothing === true,
      }
    }
    case 'readdressed':
      // Where the signature covers the id, another id is another event of the producer's own.
      return { ...same, id: `r${index}` }
    case 'broken':
      return { ...same, id: `b${index}`, body: of.body.slice(0, -2), operations: [] }
    case 'forged':
    case 'stale':
      return { ...same, id: `f${index}`, operations: [] }
  }
}
