import {
  type Clock,
  CounterfoilError,
  codeOf,
  type Log,
  type QuarantineId,
  type Random,
  type ReceivedEvent,
  type Span,
  type TraceParent,
  type Tracing,
  timeOrderedId,
} from '../domain/index.ts'
import type { EffectDefinition, Recipient } from '../recipients/index.ts'
import type { NewEffect, Plan, Planned, Store, Transactions, Vault } from '../store/index.ts'
import { describe } from './failure-text.ts'
import { FirstAttempts, type FirstPlaces } from './first-attempts.ts'
import { passes, patiently } from './patience.ts'
import { planInClient, planInStore, type WritePlan } from './plan-transaction.ts'
import { type Declared, toEffect } from './planned-effect.ts'
import type { DeclareEffect, OrderedPlan, Trigger } from './trigger.ts'

/** Waits between tries of a trigger that throws; after the last one its receipt goes to quarantine. */
export const planRetriesMs: readonly number[] = [500, 2_000, 10_000, 60_000]
/** Effects that one plan may declare. */
export const maxEffectsPerPlan = 1_000

export interface PlannerPorts {
  readonly store: Store
  readonly vault: Vault
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly tracing: Tracing
}

export interface PlannerSettings {
  readonly triggers: readonly Trigger[]
  readonly recipients: ReadonlyMap<string, Recipient>
  /** Owner of receipts whose plan fails. */
  readonly ownerOf: (producer: string, type: string) => string
  /** The configuration's version, recorded with each plan. */
  readonly plannedBy: string
  readonly planTimeoutMs: number
  /** The program's own client, whose transactions the triggers plan in. Default: the store's own. */
  readonly transactions?: Transactions<any> | undefined
  readonly firstPlaces: FirstPlaces
}

export interface PlanWork {
  readonly outbox: number
  readonly tries: number
  readonly event: ReceivedEvent
  /** The span that wrote the receipt, perhaps in another process. */
  readonly trace: TraceParent | null
}

/**
 * Design decision 2: runs the triggers of one event and commits what they wrote together with the effects
 * they declared: in the store's own transaction, or in one of the program's client.
 *
 * @returns recipients of effects that have become due; those whose first attempt the plan began are under way
 */
export async function planEvent(
  ports: PlannerPorts,
  settings: PlannerSettings,
  work: PlanWork,
): Promise<readonly string[]> {
  const { producer, receipt } = work.event
  const about = {
    name: `plan ${producer}`,
    kind: 'consumer',
    parent: work.trace,
    attributes: {
      'messaging.system': 'counterfoil',
      'messaging.operation.name': 'plan',
      'messaging.operation.type': 'process',
      'messaging.destination.name': producer,
      'messaging.message.id': receipt,
    },
  } as const
  return await ports.tracing.span(about, (span) => planWithin(ports, settings, work, span))
}

async function planWithin(
  ports: PlannerPorts,
  settings: PlannerSettings,
  work: PlanWork,
  span: Span,
): Promise<readonly string[]> {
  const first = new FirstAttempts(settings.firstPlaces)
  let planned: Planned
  try {
    planned = await plan(ports, settings, work, first, span.context)
    span.set({ 'counterfoil.outcome': planned.kind })
  } catch (error) {
    first.release()
    // The record stays leased and is handed on again: a store that is away is not the trigger's failure.
    if (passes(error)) throw error
    span.failed(codeOf(error) ?? 'error')
    await planFailed(ports, settings, work, error)
    return []
  }
  if (planned.kind === 'conflict') {
    const { recipient, key, quarantine } = planned
    ports.log('warn', 'effect conflict: another payload under a planned key', {
      receipt: work.event.receipt,
      recipient,
      key,
      quarantine,
    })
  }
  return first.run(planned)
}

async function plan(
  ports: PlannerPorts,
  settings: PlannerSettings,
  work: PlanWork,
  first: FirstAttempts,
  trace: TraceParent | null,
): Promise<Planned> {
  const { planTimeoutMs, transactions } = settings
  const triggers = settings.triggers.filter((trigger) => wants(trigger, work.event))
  const write: WritePlan = async (tx, waits) => {
    const run: TriggerRun = { event: work.event, tx, waits, timeoutMs: planTimeoutMs, clock: ports.clock }
    const plan = await toPlan(ports, settings, work, await runTriggers(triggers, run), trace)
    return { ...plan, effects: first.prepare(plan.effects) }
  }
  return transactions === undefined || triggers.length === 0
    ? await planInStore(ports.store, planTimeoutMs, write)
    : await planInClient(ports.store, transactions, planTimeoutMs, write)
}

function wants({ on, when }: Trigger, event: ReceivedEvent): boolean {
  return on.some((type) => subscribes(type, event)) && (when === undefined || when(event))
}

interface TriggerRun {
  readonly event: ReceivedEvent
  readonly tx: unknown
  readonly waits: () => boolean
  readonly timeoutMs: number
  readonly clock: Clock
}

async function runTriggers(triggers: readonly Trigger[], run: TriggerRun): Promise<Declared[]> {
  const declared: Declared[] = []
  for (const trigger of triggers) {
    let open = true
    const effect: DeclareEffect = (definition: EffectDefinition<any, any>, plan: OrderedPlan<unknown>) => {
      if (!open)
        throw new CounterfoilError(
          'transaction_closed',
          `Trigger '${trigger.name}' declared an effect after it had finished.`,
        )
      declared.push({ trigger: trigger.name, definition, plan })
    }
    try {
      await withinTime(Promise.resolve(trigger.plan(run.event, { tx: run.tx, effect })), trigger.name, run)
    } finally {
      open = false
    }
  }
  return declared
}

function subscribes(type: Trigger['on'][number], event: ReceivedEvent): boolean {
  return (
    type.producer.name === event.producer &&
    type.type === event.type &&
    (type.version === undefined || type.version === event.version)
  )
}

async function toPlan(
  ports: PlannerPorts,
  settings: PlannerSettings,
  work: PlanWork,
  declared: readonly Declared[],
  trace: TraceParent | null,
): Promise<Plan> {
  if (declared.length > maxEffectsPerPlan) {
    throw new CounterfoilError(
      'effect_payload_invalid',
      `One event planned ${declared.length} effects; the limit is ${maxEffectsPerPlan}.`,
    )
  }
  const at = ports.clock.now()
  const effects: NewEffect[] = []
  const lane = work.event.origin === 'live' ? {} : { behind: true as const }
  for (const one of declared)
    effects.push({ ...(await toEffect(ports, settings.recipients, one, at)), trace, ...lane })
  return {
    outbox: work.outbox,
    receipt: work.event.receipt,
    at,
    plannedBy: settings.plannedBy,
    effects,
    onConflict: {
      id: timeOrderedId<QuarantineId>('qua', at, ports.random.bytes(10)),
      owner: settings.ownerOf(work.event.producer, work.event.type),
    },
  }
}

async function planFailed(
  ports: PlannerPorts,
  settings: PlannerSettings,
  work: PlanWork,
  error: unknown,
): Promise<void> {
  const { event, outbox, tries } = work
  const text = describe(error)
  const waitMs = planRetriesMs[tries]
  const now = ports.clock.now()
  if (waitMs !== undefined) {
    ports.log('warn', 'a plan failed; it is tried again', {
      receipt: event.receipt,
      try: tries + 1,
      error: text,
      waitMs,
    })
    await patiently(ports, 'postpone', () =>
      ports.store.postponePlan({ outbox, at: now + waitMs, error: text }),
    )
    return
  }
  const quarantine = {
    id: timeOrderedId<QuarantineId>('qua', now, ports.random.bytes(10)),
    reason: 'plan-failed' as const,
    detail: { error: text, tries: tries + 1 },
    owner: settings.ownerOf(event.producer, event.type),
  }
  ports.log('error', 'a plan failed for the last time; its receipt is in quarantine', {
    receipt: event.receipt,
    error: text,
  })
  await patiently(ports, 'quarantine', () =>
    ports.store.quarantinePlan({ outbox, receipt: event.receipt, quarantine, at: now }),
  )
}

/** Runs a trigger's plan within its time; waiting for the store behind other plans does not count. */
async function withinTime(
  plan: Promise<void>,
  name: string,
  { timeoutMs: ms, clock, waits }: TriggerRun,
): Promise<void> {
  let cancel = () => {}
  const late = new Promise<never>((_, reject) => {
    const check = () => {
      if (waits()) cancel = clock.after(ms, check)
      else
        reject(new CounterfoilError('trigger_timeout', `Trigger '${name}' did not finish within ${ms} ms.`))
    }
    cancel = clock.after(ms, check)
  })
  try {
    await Promise.race([plan, late])
  } finally {
    cancel()
  }
}
