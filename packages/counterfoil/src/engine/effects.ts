import {
  type Clock,
  CounterfoilError,
  classify,
  classifyLookup,
  codeOf,
  type Exchange,
  type Log,
  nextStep,
  type Random,
  type WorkerId,
} from '../domain/index.ts'
import type { Network, Recipient } from '../recipients/index.ts'
import { decodeRequest, attempt as sendAttempt, lookup as sendLookup } from '../recipients/index.ts'
import type { EffectView, EffectWork, Store, Vault } from '../store/index.ts'
import { decide, type Learned, lookupTimes } from './decide.ts'
import { patiently } from './patience.ts'

export interface EffectPorts {
  readonly store: Store
  readonly vault: Vault
  readonly network: Network
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export interface EffectSettings {
  readonly worker: WorkerId
  readonly leaseMs: number
  readonly recipients: ReadonlyMap<string, Recipient>
  /** Who is told when an effect needs a person. */
  readonly owner: string
  /** Called with the time of the next look at an effect, so that nobody polls for it. */
  readonly lookAgain: (at: number) => void
}

/**
 * One attempt, top to bottom: it is durable already (I5); send the stored bytes under the stored key,
 * read the answer by the contract, settle.
 */
export async function runAttempt(
  ports: EffectPorts,
  settings: EffectSettings,
  work: EffectWork,
  signal: AbortSignal,
): Promise<void> {
  const recipient = recipientOf(settings, work.effect)
  const exchange = await send(ports, recipient, work, signal)
  const outcome = classify(recipient.contract, exchange, ports.clock.now())
  await settle(ports, settings, work.effect, { kind: 'answer', attempt: work.attempt, outcome })
}

async function send(
  ports: EffectPorts,
  recipient: Recipient,
  work: EffectWork,
  signal: AbortSignal,
): Promise<Exchange> {
  const { id, idempotencyKey, order, dueAt } = work.effect
  let stored: ReturnType<typeof decodeRequest>
  try {
    stored = decodeRequest(ports.vault.open(work.request, id))
  } catch (error) {
    // A missing key or a damaged payload is our own fault, and proof that nothing went out.
    return { kind: 'notSent', why: `the request cannot be read: ${codeOf(error) ?? 'internal'}` }
  }
  // A process that slept past its lease must not send: another may be asking whether this attempt acted.
  if (ports.clock.now() >= (dueAt ?? 0)) return { kind: 'notSent', why: 'the lease ended first' }
  return await sendAttempt(ports.network, recipient, stored, idempotencyKey, order, signal)
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
): Promise<void> {
  if (effect.state === 'attempting') {
    await settle(ports, settings, effect, { kind: 'leaseEnded' })
    return
  }
  const recipient = recipientOf(settings, effect)
  const { contract } = recipient
  const lookups = lookupTimes(effect.evidence)
  const step = nextStep(
    { contract, state: effect.state, plannedAt: effect.plannedAt, attempts: effect.attempts, lookups },
    ports.clock.now(),
  )
  switch (step.kind) {
    case 'lookup': {
      const askedAt = ports.clock.now()
      const exchange = await sendLookup(ports.network, recipient, effect.idempotencyKey, signal)
      await settle(ports, settings, effect, {
        kind: 'lookup',
        finding: classifyLookup(contract, exchange),
        askedAt,
      })
      return
    }
    case 'repeat': {
      const { worker, leaseMs } = settings
      const now = ports.clock.now()
      const work = await ports.store.beginRepeat({
        effect: effect.id,
        expectedVersion: effect.version,
        worker,
        now,
        leaseMs,
      })
      if (work !== null) await runAttempt(ports, settings, work, signal)
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

/** Writes what was learned, however long the store takes: what a recipient said must not be lost to a busy disk. */
async function settle(
  ports: EffectPorts,
  settings: EffectSettings,
  effect: EffectView,
  learned: Learned,
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
      return
    }
    view = settled.current
    // A lease that someone else already ended is old news; answers and findings are always kept.
    if (learned.kind === 'leaseEnded' && view.state !== 'attempting') return
    if (learned.kind === 'answer' && alreadyTold(view, learned)) return
  }
}

/** After an unclear commit the first try may have been written: the same answer is not told twice. */
function alreadyTold(view: EffectView, learned: Extract<Learned, { kind: 'answer' }>): boolean {
  const attempt = view.attempts.find((candidate) => candidate.number === learned.attempt)
  return attempt?.outcome === learned.outcome.kind && attempt.why === learned.outcome.why
}

function recipientOf(settings: EffectSettings, effect: EffectView): Recipient {
  const recipient = settings.recipients.get(effect.recipient)
  if (recipient === undefined)
    throw new CounterfoilError('effect_unknown', `Recipient '${effect.recipient}' is not configured.`)
  return recipient
}
