import {
  type Clock,
  CounterfoilError,
  codeOf,
  correlationOf,
  type Log,
  nextStep,
  type Outcome,
  type Random,
  type Span,
  type SpanAbout,
  type TraceParent,
  type Tracing,
  type WorkerId,
} from '../domain/index.ts'
import {
  ask,
  close,
  type EffectAddress,
  type Network,
  prepare,
  type Recipient,
  type RecipientSource,
  tracedNetwork,
} from '../recipients/index.ts'
import type { EffectView, EffectWork, Store, Vault } from '../store/index.ts'
import { decide, type Learned } from './decide.ts'
import { describe } from './failure-text.ts'
import { patiently } from './patience.ts'
import { situationOf } from './situation.ts'

export interface EffectPorts {
  readonly store: Store
  readonly vault: Vault
  readonly network: Network
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly tracing: Tracing
}

export interface EffectSettings {
  readonly worker: WorkerId
  readonly leaseMs: number
  readonly recipients: ReadonlyMap<string, Recipient>
  /** Where more recipients come from while the program runs. */
  readonly sources?: readonly RecipientSource[]
  /** Who is told when an effect needs a person. */
  readonly owner: string
  /** Called with the time of the next look at an effect, so that nobody polls for it. */
  readonly lookAgain: (at: number) => void
}

/**
 * The recipient is done with an effect and may be called for the next one; what it said is not written yet.
 *
 * @param quietMs how long it asks that nothing more be sent to it at all, in milliseconds
 */
export type OnCallEnded = (quietMs: number | undefined) => void

/** Answers whose wait is meant for every request and not for this one alone. */
const limits = [429, 503]

/**
 * One attempt, top to bottom: it is durable already (I5); send the stored bytes under the stored key,
 * read the answer by the contract, settle.
 */
export function runAttempt(
  ports: EffectPorts,
  settings: EffectSettings,
  work: EffectWork,
  signal: AbortSignal,
  onCallEnded: OnCallEnded,
): Promise<void> {
  const { effect, attempt } = work
  const about = spanOf('attempt', effect, { 'counterfoil.attempt': attempt })
  return ports.tracing.span(about, async (span) => {
    const from = span.context
    const { outcome, late } = await send(ports, recipientOf(settings, effect), work, from, signal)
    const { status = 0, retryAfterMs, quietMs = retryAfterMs } = outcome
    onCallEnded(limits.includes(status) ? quietMs : undefined)
    span.set({ 'counterfoil.outcome': outcome.kind })
    await settle(ports, settings, effect, { kind: 'answer', attempt, outcome }, from)
    // An answer after the deadline is evidence for the effect, whatever became of it meanwhile.
    late
      ?.then((later) => settle(ports, settings, effect, { kind: 'answer', attempt, outcome: later }, from))
      .catch((error: unknown) => {
        ports.log('warn', 'a late answer could not be written', { effect: effect.id, error: describe(error) })
      })
  })
}

/** What is done for an effect goes on from the span that planned it, in whatever process and however much later. */
function spanOf(
  verb: string,
  { id, name, recipient, trace }: EffectView,
  attributes: SpanAbout['attributes'] = {},
): SpanAbout {
  const about = { 'counterfoil.effect': id, 'counterfoil.recipient': recipient, ...attributes }
  return { name: `${verb} ${name}`, kind: 'internal', parent: trace, attributes: about }
}

async function send(
  ports: EffectPorts,
  recipient: Recipient,
  { effect, attempt, request }: EffectWork,
  parent: TraceParent | null,
  signal: AbortSignal,
): Promise<{ readonly outcome: Outcome; readonly late?: Promise<Outcome> }> {
  const notSent = (why: string) =>
    ({ outcome: { kind: 'notActed', why: `nothing was sent: ${why}` } }) as const
  let carryOut: ReturnType<typeof prepare>
  try {
    const network = tracedNetwork(ports.network, ports.tracing, { parent, recipient, resent: attempt - 1 })
    carryOut = prepare({ ...ports, network }, recipient, ports.vault.open(request, effect.id))
  } catch (error) {
    // A missing key or a damaged payload is our own fault, and proof that nothing went out.
    return notSent(`the request cannot be read: ${codeOf(error) ?? 'internal'}`)
  }
  // A process that slept past its lease must not send: another may be asking whether this attempt acted.
  if (ports.clock.now() >= (effect.dueAt ?? 0)) return notSent('the lease ended first')
  return await carryOut(addressOf(effect), attempt, signal)
}

function addressOf({ idempotencyKey, key, order, plannedAt, attempts }: EffectView): EffectAddress {
  const begunAt = attempts.at(-1)?.begunAt ?? plannedAt
  return { idempotencyKey, key, order, plannedAt, begunAt, correlation: correlationOf(attempts) }
}

/**
 * An effect that is due and not planned: its lease ended, or it is unknown. Does the one thing that the
 * policy says comes next.
 */
export async function attend(
  ports: EffectPorts,
  settings: EffectSettings,
  effect: EffectView,
  signal: AbortSignal,
  onCallEnded: OnCallEnded,
): Promise<void> {
  if (effect.state === 'attempting') {
    await settle(ports, settings, effect, { kind: 'leaseEnded' })
    return
  }
  const recipient = recipientOf(settings, effect)
  // Read once: a process may sleep here, and the lease of a repeat must count from what allowed it.
  const now = ports.clock.now()
  const step = nextStep(situationOf(recipient.contract, effect), now)
  switch (step.kind) {
    case 'lookup':
    case 'tombstone': {
      const { kind } = step
      await ports.tracing.span(spanOf(kind, effect), async ({ context }) => {
        const learned = await put(ports, recipient, effect, kind, context, signal)
        onCallEnded(undefined)
        await settle(ports, settings, effect, learned, context)
      })
      return
    }
    case 'repeat': {
      const { worker, leaseMs } = settings
      const { name, limits } = recipient
      const work = await ports.store.beginRepeat({
        effect: effect.id,
        expectedVersion: effect.version,
        worker,
        now,
        leaseMs,
        ...(limits === undefined ? {} : { limited: { recipient: name, limits } }),
      })
      if (work !== null) await runAttempt(ports, settings, work, signal, onCallEnded)
      return
    }
    case 'operator':
      await settle(ports, settings, effect, { kind: 'escalate', why: step.why })
      return
    // Moved by someone else since it was taken: whoever moved it has set when to look again.
    case 'attempt':
    case 'wait':
    case 'done':
      return
  }
}

/** What of an operator's own asking does not need the rest of the engine. */
export type InquiryPorts = Omit<EffectPorts, 'vault'>
export type InquirySettings = Pick<EffectSettings, 'recipients' | 'owner' | 'lookAgain'>

/**
 * Asks an effect's recipient now, in an operator's name, and writes what it says: that is evidence as any other,
 * whatever became of the effect meanwhile.
 */
export async function inquire(
  ports: InquiryPorts,
  settings: InquirySettings,
  effect: EffectView,
  kind: 'lookup' | 'tombstone',
  by: string,
): Promise<void> {
  const recipient = recipientOf(settings, effect)
  const { signal } = new AbortController()
  await ports.tracing.span(spanOf(kind, effect), async ({ context }) => {
    const learned = await put(ports, recipient, effect, kind, context, signal)
    await settle(ports, settings, effect, { ...learned, by }, context)
  })
}

/** Puts a question to a recipient. */
async function put(
  ports: InquiryPorts,
  recipient: Recipient,
  effect: EffectView,
  kind: 'lookup' | 'tombstone',
  parent: TraceParent | null,
  signal: AbortSignal,
): Promise<Extract<Learned, { kind: 'lookup' | 'tombstone' }>> {
  const network = tracedNetwork(ports.network, ports.tracing, { parent, recipient, resent: 0 })
  const reach = { clock: ports.clock, network }
  const askedAt = ports.clock.now()
  if (kind === 'lookup') {
    const finding = await ask(reach, recipient, addressOf(effect), signal)
    return { kind, finding, askedAt, answeredAt: ports.clock.now() }
  }
  const finding = await close(reach, recipient, addressOf(effect), signal)
  return { kind, finding, askedAt, answeredAt: ports.clock.now() }
}

/** Writes what was learned, however long the store takes: what a recipient said must not be lost to a busy disk. */
function settle(
  ports: InquiryPorts,
  settings: InquirySettings,
  effect: EffectView,
  learned: Learned,
  parent: TraceParent | null = effect.trace,
): Promise<void> {
  const about = { ...spanOf('settle', effect, { 'counterfoil.learned': learned.kind }), parent }
  return ports.tracing.span(about, (span) => settleWithin(ports, settings, effect, learned, span))
}

async function settleWithin(
  ports: InquiryPorts,
  settings: InquirySettings,
  effect: EffectView,
  learned: Learned,
  span: Span,
): Promise<void> {
  const { contract } = recipientOf(settings, effect)
  let view = effect
  for (;;) {
    const decision = decide(
      view,
      contract,
      settings.owner,
      learned,
      ports.clock.now(),
      ports.random.fraction(),
    )
    if (decision === null) {
      ports.log('warn', 'a fact came that the lifecycle does not allow now', {
        effect: view.id,
        state: view.state,
        learned: learned.kind,
      })
      return
    }
    const { settlement } = decision
    const settled = await patiently(ports, 'settle', () => ports.store.settle(settlement))
    if (settled.kind === 'settled') {
      if (typeof settlement.dueAt === 'number') settings.lookAgain(settlement.dueAt)
      span.set({ 'counterfoil.state': settlement.to })
      return
    }
    view = settled.current
    // A lease that someone else already ended is old news, and that of a later attempt has not ended; answers and
    // findings are always kept.
    const isSameAttempt = view.state === 'attempting' && view.attempts.length === effect.attempts.length
    if (learned.kind === 'leaseEnded' && !isSameAttempt) return
    if (learned.kind === 'answer' && alreadyTold(view, learned)) return
  }
}

/** After an unclear commit the first try may have been written: the same answer is not told twice. */
function alreadyTold(view: EffectView, learned: Extract<Learned, { kind: 'answer' }>): boolean {
  const attempt = view.attempts.find((candidate) => candidate.number === learned.attempt)
  return attempt?.outcome === learned.outcome.kind && attempt.why === learned.outcome.why
}

function recipientOf(settings: Pick<EffectSettings, 'recipients'>, effect: EffectView): Recipient {
  const recipient = settings.recipients.get(effect.recipient)
  if (recipient === undefined)
    throw new CounterfoilError('effect_unknown', `Recipient '${effect.recipient}' is not configured.`)
  return recipient
}
