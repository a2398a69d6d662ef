import type { Contract, Idempotency } from './contract.ts'
import { type Duration, inWords, milliseconds } from './duration.ts'
import { CounterfoilError } from './errors.ts'
import type { Instant } from './ids.ts'

/**
 * How long what is kept (design.md section 3, Retention). Horizons say how late something may still come; periods say
 * how long records stay. A period that is shorter than what the horizons add up to is refused.
 */
export interface RetentionOptions {
  /**
   * How long each producer may send one event again, by every way there is: its retries, resending by hand, a queue
   * of dead letters. Default: what its kind states, and at least 30d; `internal` ones what their kind states.
   */
  readonly producers?: Readonly<Record<string, Duration>>
  /** How long a receipt may wait for its plan, and an effect for its first attempt. Default `7d`. */
  readonly queue?: Duration
  /** How long people may take to settle what the engine cannot. Default `30d`. */
  readonly operator?: Duration
  /** How long evidence has to be shown after an effect is final. Default `400d`. */
  readonly audit?: Duration
  /** Payloads and requests, from when all is done with. Default: the operator's horizon. */
  readonly payload?: Duration
  /** Receipts, effects and their evidence, from when all is done with; then a marker is left. Default: the least allowed. */
  readonly evidence?: Duration
  /**
   * Markers of receipts, from when their event happened. Then the time before is closed: an event of it that is not
   * known is refused. Default `never`: markers stay, and nothing is closed.
   */
  readonly boundary?: Duration | 'never'
  /**
   * Markers of effects, from when they are final: for so long may another event plan the same effect. Default
   * `never`: they stay.
   */
  readonly effectKeys?: Duration | 'never'
  /** How often a working process applies all this by itself. Default: only when an operator does. */
  readonly every?: Duration
}

export interface Horizon {
  readonly name: string
  readonly ms: number
  /** Where the length comes from. */
  readonly why: string
}

/** How late an event of a producer may still lead to an act, or to a question about one, at a recipient. */
export interface Combination {
  readonly producer: string
  readonly recipient: string
  readonly producerMs: number
  readonly queueMs: number
  readonly recipientMs: number
  readonly operatorMs: number
  readonly totalMs: number
}

/** Null: for ever. */
export interface RetentionPeriods {
  readonly payloadMs: number
  readonly evidenceMs: number
  readonly boundaryMs: number | null
  readonly effectKeysMs: number | null
}

export interface Retention {
  readonly producers: readonly Horizon[]
  readonly recipients: readonly Horizon[]
  readonly queue: Horizon
  readonly operator: Horizon
  readonly audit: Horizon
  /** Longest first. */
  readonly combinations: readonly Combination[]
  readonly longest: Combination
  readonly periods: RetentionPeriods
  readonly everyMs: number | null
}

export interface RetentionSubjects {
  readonly producers: readonly {
    readonly name: string
    readonly retryHorizon: Duration
    readonly isInternal: boolean
  }[]
  readonly recipients: readonly { readonly name: string; readonly contract: Contract }[]
}

/** The least that is expected of senders and of people at their consoles, whatever their documents say. */
export const assumedResendMs = milliseconds('30d')
/** Counted where a recipient states no time, or remembers for ever: what is not final stays in any case. */
export const assumedRecipientMs = milliseconds('30d')

/**
 * @throws CounterfoilError `retention_too_short` when a period is shorter than the horizons add up to;
 *   `config_invalid` for a producer that is not there
 */
export function retentionOf(
  options: RetentionOptions,
  { producers, recipients }: RetentionSubjects,
): Retention {
  const stranger = Object.keys(options.producers ?? {}).find((name) =>
    producers.every((p) => p.name !== name),
  )
  if (stranger !== undefined) {
    throw new CounterfoilError(
      'config_invalid',
      `retention.producers names '${stranger}', which is not configured.`,
      {
        hint: 'Use the names of the producers, such as stripe/acct_1.',
      },
    )
  }
  const set = (name: 'queue' | 'operator' | 'audit', assumed: Duration): Horizon => ({
    name,
    ms: milliseconds(options[name] ?? assumed),
    why: options[name] === undefined ? 'assumed' : 'as configured',
  })
  const queue = set('queue', '7d')
  const operator = set('operator', '30d')
  const audit = set('audit', '400d')
  const ofProducers = producers.map((one) => producerHorizon(one, options.producers?.[one.name]))
  const ofRecipients = recipients.map(({ name, contract }) => ({ name, ...recipientHorizon(contract) }))
  const none: Horizon = { name: '-', ms: 0, why: 'none is configured' }
  const combinations = orElse(ofProducers, none)
    .flatMap((producer) =>
      orElse(ofRecipients, none).map((recipient) => combine(producer, queue, recipient, operator)),
    )
    .sort((a, b) => b.totalMs - a.totalMs)
  const longest = combinations[0]!
  const periods = periodsOf(options, longest, audit, operator)
  const everyMs = options.every === undefined ? null : milliseconds(options.every)
  if (everyMs !== null && everyMs < 1_000) {
    throw new CounterfoilError(
      'config_invalid',
      `retention.every is ${inWords(everyMs)}; at least 1s is needed.`,
    )
  }
  return {
    producers: ofProducers,
    recipients: ofRecipients,
    queue,
    operator,
    audit,
    combinations,
    longest,
    periods,
    everyMs,
  }
}

function orElse(horizons: readonly Horizon[], none: Horizon): readonly Horizon[] {
  return horizons.length === 0 ? [none] : horizons
}

function producerHorizon(
  { name, retryHorizon, isInternal }: RetentionSubjects['producers'][number],
  configured: Duration | undefined,
): Horizon {
  const statedMs = milliseconds(retryHorizon)
  if (configured !== undefined) {
    const ms = milliseconds(configured)
    if (ms >= statedMs) return { name, ms, why: 'as configured' }
    throw tooShort(
      `retention.producers['${name}']`,
      ms,
      statedMs,
      `events of '${name}' can come again for ${inWords(statedMs)}, as its kind states`,
    )
  }
  if (isInternal || statedMs >= assumedResendMs) return { name, ms: statedMs, why: 'stated by its kind' }
  const assumed = inWords(assumedResendMs)
  return {
    name,
    ms: assumedResendMs,
    why: `its kind states ${inWords(statedMs)}; ${assumed} assumed, for what is sent again by hand`,
  }
}

/** How long a recipient remembers, or can be asked. */
function recipientHorizon({ idempotency, lookup, ordering }: Contract): Omit<Horizon, 'name'> {
  const { remembersFor = 'unstated' } = idempotency ?? {}
  const stated: readonly (Idempotency['remembersFor'] | undefined)[] = [
    remembersFor,
    lookup?.findsFor,
    ordering?.tombstone?.findsFor,
  ]
  const bounded = stated
    .filter((one) => one !== undefined && one !== 'forever' && one !== 'unstated')
    .map(milliseconds)
  const endless = stated.includes('forever')
  if (bounded.length > 0 && !endless) return { ms: Math.max(...bounded), why: 'by its contract' }
  const assumed = inWords(assumedRecipientMs)
  return {
    ms: Math.max(assumedRecipientMs, ...bounded),
    why: endless
      ? `its contract says for ever; ${assumed} counted`
      : `its contract says nothing; ${assumed} assumed`,
  }
}

function combine(producer: Horizon, queue: Horizon, recipient: Horizon, operator: Horizon): Combination {
  return {
    producer: producer.name,
    recipient: recipient.name,
    producerMs: producer.ms,
    queueMs: queue.ms,
    recipientMs: recipient.ms,
    operatorMs: operator.ms,
    totalMs: producer.ms + queue.ms + recipient.ms + operator.ms,
  }
}

/** Why a combination needs as long as it does. */
export function combinationInWords(combination: Combination): string {
  const { producer, recipient, producerMs, queueMs, recipientMs, operatorMs, totalMs } = combination
  const parts = [
    `an event of '${producer}' may come again for ${inWords(producerMs)}`,
    `wait ${inWords(queueMs)} for its plan and its attempt`,
    recipient === '-' ? 'reach no recipient' : `be remembered by '${recipient}' for ${inWords(recipientMs)}`,
    `and take people ${inWords(operatorMs)} to settle`,
  ]
  return `${parts.join(', ')}: ${inWords(totalMs)} in all`
}

function periodsOf(
  options: RetentionOptions,
  longest: Combination,
  audit: Horizon,
  operator: Horizon,
): RetentionPeriods {
  const least = Math.max(longest.totalMs, audit.ms)
  const evidenceMs = milliseconds(options.evidence ?? least)
  const payloadMs = milliseconds(options.payload ?? Math.min(operator.ms, evidenceMs))
  const needed = combinationInWords(longest)
  if (evidenceMs < longest.totalMs) throw tooShort('retention.evidence', evidenceMs, longest.totalMs, needed)
  if (evidenceMs < audit.ms) {
    throw tooShort('retention.evidence', evidenceMs, audit.ms, `the audit horizon is ${inWords(audit.ms)}`)
  }
  if (payloadMs > evidenceMs) {
    throw tooShort('retention.evidence', evidenceMs, payloadMs, 'a payload does not outlive its receipt')
  }
  const markers = (name: 'boundary' | 'effectKeys'): number | null => {
    const given = options[name] ?? 'never'
    if (given === 'never') return null
    const ms = milliseconds(given)
    if (ms < longest.totalMs) throw tooShort(`retention.${name}`, ms, longest.totalMs, needed)
    if (ms >= evidenceMs) return ms
    throw tooShort(`retention.${name}`, ms, evidenceMs, 'a marker is what is left when the evidence goes')
  }
  return { payloadMs, evidenceMs, boundaryMs: markers('boundary'), effectKeysMs: markers('effectKeys') }
}

function tooShort(setting: string, ms: number, neededMs: number, why: string): CounterfoilError {
  return new CounterfoilError(
    'retention_too_short',
    `${setting} is ${inWords(ms)} and has to be at least ${inWords(neededMs)}: ${why}.`,
    {
      hint: `Keep for ${inWords(neededMs)} or more, or configure shorter horizons where they are known to be shorter.`,
    },
  )
}

/** In this order: each step leaves less behind than the one before. */
export const retentionSteps = [
  /** Sealed payloads of receipts. */
  'payloads',
  /** Sealed requests of effects. */
  'requests',
  /** Receipts, and what was learned of them, become markers. */
  'receipts',
  /** Effects and their evidence become markers. */
  'effects',
  /** Markers of receipts go, and the time before the boundary is closed. */
  'receipt-markers',
  /** Markers of effects go. */
  'effect-markers',
] as const
export type RetentionStep = (typeof retentionSteps)[number]

/** What a step takes is done with at this time or before; null: the step takes nothing. */
export function cutoff(step: RetentionStep, periods: RetentionPeriods, now: Instant): Instant | null {
  const ms = {
    payloads: periods.payloadMs,
    requests: periods.payloadMs,
    receipts: periods.evidenceMs,
    effects: periods.evidenceMs,
    'receipt-markers': periods.boundaryMs,
    'effect-markers': periods.effectKeysMs,
  }[step]
  return ms === null ? null : now - ms
}
