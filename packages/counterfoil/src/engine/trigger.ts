import type { ReceivedEvent } from '../domain/index.ts'
import type { EffectDefinition } from '../recipients/index.ts'
import type { PlanTransaction, Transactions } from '../store/index.ts'

/** What an effect is planned with. */
export interface EffectPlan<Payload> {
  /** The semantic name of the operation: `invoice/481/collect/revision/3`. Never an event id. */
  readonly key: string
  readonly payload: Payload
}

/** Only where the recipient compares versions: a place in an ordering domain. */
export interface OrderedPlan<Payload> extends EffectPlan<Payload> {
  readonly order?: { readonly domain: string; readonly version: number }
}

/** Declares an effect. Nothing is called: the effect is committed with the plan and attempted afterwards. */
export interface DeclareEffect {
  <Payload>(effect: EffectDefinition<Payload, true>, plan: OrderedPlan<Payload>): void
  <Payload>(
    effect: EffectDefinition<Payload, false>,
    plan: EffectPlan<Payload> & { readonly order?: never },
  ): void
}

/** What a trigger's `plan` is given beside the event. */
export interface PlanContext<Tx = PlanTransaction> {
  /**
   * The transaction that the plan commits in: the handle of the program's own database client, or else our own
   * for statements on the program's tables; those of Counterfoil are closed to it.
   */
  readonly tx: Tx
  readonly effect: DeclareEffect
}

/** What a producer's `event()` gives; declared here by shape because intake stands above the engine. */
export interface Subscription<Data = unknown> {
  readonly producer: { readonly name: string }
  readonly type: string
  readonly version: string | undefined
  readonly schema:
    | { readonly '~standard': { readonly types?: { readonly output: Data } | undefined } }
    | undefined
}

/** What lets work begin and plans effects, as `trigger()` makes it. */
export interface Trigger<Data = any, Tx = any> {
  readonly name: string
  readonly on: readonly Subscription<Data>[]
  readonly in: Transactions<Tx> | undefined
  readonly when: ((event: ReceivedEvent<Data>) => boolean) | undefined
  readonly plan: (event: ReceivedEvent<Data>, context: PlanContext<Tx>) => void | Promise<void>
}

/**
 * Names what lets work begin and plans its effects (design.md section 3, Plan). `plan` must be
 * deterministic and must not call out: it may run again after a crash.
 */
export function trigger<Data, Tx = PlanTransaction>(
  name: string,
  about: {
    readonly on: Subscription<Data> | readonly Subscription<Data>[]
    /** The configuration's `transactions`, where it has them: `tx` is then the client's own handle. */
    readonly in?: Transactions<Tx>
    /** The business condition. Default: every event. */
    readonly when?: (event: ReceivedEvent<Data>) => boolean
    readonly plan: (event: ReceivedEvent<Data>, context: PlanContext<Tx>) => void | Promise<void>
  },
): Trigger<Data, Tx> {
  const on = Array.isArray(about.on)
    ? (about.on as readonly Subscription<Data>[])
    : [about.on as Subscription<Data>]
  return { name, on, in: about.in, when: about.when, plan: about.plan }
}
