import type { Counterfoil } from '../counterfoil.ts'
import { type Instant, nextStep, type Step } from '../domain/index.ts'
import { situationOf } from '../engine/index.ts'
import type { EffectStory } from '../store/index.ts'

/** One line of an effect's story. */
export interface StoryLine {
  readonly at: Instant
  readonly kind:
    | 'receipt'
    | 'planned'
    | 'attempt'
    | 'answer'
    | 'lookup'
    | 'tombstone'
    | 'lease'
    | 'acceptance'
    | 'late-answer'
    | 'operator'
    | 'escalation'
  readonly text: string
}

export interface ToldEffect extends EffectStory {
  readonly timeline: readonly StoryLine[]
  readonly next: {
    readonly kind: Step['kind'] | 'not-configured'
    readonly at: Instant | null
    readonly why: string
  }
}

/** The whole story of an effect: causes, attempts, evidence, and what may happen next and why. */
export function tell(app: Counterfoil, story: EffectStory, now: Instant): ToldEffect {
  return { ...story, timeline: timeline(story), next: whatNext(app, story, now) }
}

function timeline({ effect, causes }: EffectStory): StoryLine[] {
  const lines: StoryLine[] = causes.map((cause) => ({
    at: cause.at,
    kind: 'receipt',
    text: `caused by ${cause.type} ${cause.eventId} of ${cause.producer} (${cause.receipt}), trigger '${cause.trigger}'`,
  }))
  lines.push({
    at: effect.plannedAt,
    kind: 'planned',
    text: `planned as '${effect.name}' at ${effect.recipient}`,
  })
  for (const attempt of effect.attempts) {
    lines.push({
      at: attempt.begunAt,
      kind: 'attempt',
      text: `attempt ${attempt.number} begun, with its lease, by ${attempt.worker}`,
    })
    if (attempt.endedAt === null || attempt.outcome === null) continue
    const waited = attempt.retryAfterMs === null ? '' : `; asked to wait ${attempt.retryAfterMs} ms`
    const correlation = attempt.correlation === null ? '' : `; recipient's id ${attempt.correlation}`
    const outcome = attempt.outcome === 'notActed' ? 'did not act' : attempt.outcome
    lines.push({
      at: attempt.endedAt,
      kind: 'answer',
      text: `attempt ${attempt.number} ${outcome}: ${attempt.why}${waited}${correlation}`,
    })
  }
  for (const entry of effect.evidence) {
    const moved = entry.from === entry.to ? `stays ${entry.to}` : `${entry.from} → ${entry.to}`
    const of = entry.attempt === null ? '' : ` of attempt ${entry.attempt}`
    lines.push({
      at: entry.at,
      kind: entry.kind,
      text: `${entry.kind.replace('-', ' ')}${of}: ${entry.why}; ${moved} (by ${entry.by})`,
    })
  }
  return lines.sort((a, b) => a.at - b.at || order.indexOf(a.kind) - order.indexOf(b.kind))
}

/** Lines of the same millisecond are told in the order in which they must have happened. */
const order: readonly StoryLine['kind'][] = [
  'receipt',
  'planned',
  'attempt',
  'answer',
  'acceptance',
  'lease',
  'lookup',
  'tombstone',
  'late-answer',
  'escalation',
  'operator',
]

function whatNext(app: Counterfoil, { effect }: EffectStory, now: Instant): ToldEffect['next'] {
  const recipient = app.recipients.get(effect.recipient)
  if (recipient === undefined) {
    return {
      kind: 'not-configured',
      at: null,
      why: `Recipient '${effect.recipient}' is not in this configuration, so nothing happens.`,
    }
  }
  const step = nextStep(situationOf(recipient.contract, effect), now)
  return { kind: step.kind, at: effect.dueAt ?? ('at' in step ? step.at : null), why: step.why }
}
