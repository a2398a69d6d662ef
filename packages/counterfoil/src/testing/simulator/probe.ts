import { canonicalize, type JsonValue, type ReceivedEvent } from '../../domain/index.ts'
import type { Trigger } from '../../engine/index.ts'
import type { UserEvent } from './user-scenario.ts'

/** What a trigger declared for one event. */
export interface Declaration {
  readonly trigger: string
  readonly recipient: string
  readonly effect: string
  readonly key: string
  /** The payload as text that compares. */
  readonly payload: string
  readonly order: { readonly domain: string; readonly version: number } | null
}

export type Probed =
  | { readonly kind: 'declared'; readonly declarations: readonly Declaration[] }
  | { readonly kind: 'threw'; readonly error: string }

/** What differs between two deliveries of one thing: nothing that a plan may depend on. */
export interface Circumstances {
  readonly id: string
  readonly receipt: string
  readonly receivedAt: number
}

/** Runs one trigger's plan for one event, without a store. @returns null where it does not want the event */
export async function probe(
  trigger: Trigger,
  event: UserEvent,
  data: unknown,
  { id, receipt, receivedAt }: Circumstances,
  tx: unknown,
): Promise<Probed | null> {
  const received = {
    receipt,
    producer: event.producer,
    source: 'simulated',
    id,
    type: event.type,
    version: event.version,
    at: null,
    receivedAt,
    origin: 'live',
    fingerprint: 'jcs-sha256:0',
    data,
  } as unknown as ReceivedEvent
  const declarations: Declaration[] = []
  try {
    if (trigger.when !== undefined && !trigger.when(received)) return null
    await trigger.plan(received, {
      tx,
      effect: ((definition: any, plan: any) => {
        declarations.push({
          trigger: trigger.name,
          recipient: definition.recipient.name,
          effect: definition.name,
          key: String(plan.key),
          payload: canonicalize((plan.payload ?? null) as JsonValue),
          order: plan.order ?? null,
        })
      }) as never,
    })
  } catch (error) {
    return { kind: 'threw', error: error instanceof Error ? error.message : String(error) }
  }
  return { kind: 'declared', declarations }
}

/** Runs something as if it were `days` later: whoever reads the machine's clock gets another answer. */
export async function later<Result>(days: number, run: () => Promise<Result>): Promise<Result> {
  const RealDate = globalThis.Date
  const shift = days * 86_400_000
  class LaterDate extends RealDate {
    constructor(...parts: unknown[]) {
      if (parts.length === 0) super(RealDate.now() + shift)
      else super(...(parts as [number]))
    }
    static override now(): number {
      return RealDate.now() + shift
    }
  }
  globalThis.Date = LaterDate as DateConstructor
  try {
    return await run()
  } finally {
    globalThis.Date = RealDate
  }
}
