import type { ShownEffect } from '../../../packages/counterfoil/src/operate/index.ts'
import type { AttemptRecord } from '../../../packages/counterfoil/src/store/index.ts'

export type Tone = 'good' | 'open' | 'doubt' | 'bad' | 'set'

export interface Verdict {
  readonly tone: Tone
  /** Did it happen? One sentence. */
  readonly answer: string
  /** How do we know, and what was sent. */
  readonly because: readonly string[]
}

/** The first question about an effect, answered from what its ledger row says and nothing else. */
export function verdictOf({ effect, next }: Pick<ShownEffect, 'effect' | 'next'>): Verdict {
  const { state, recipient, disputed } = effect
  const { tone, answer } = answers[state](recipient, effect.attempts)
  const because = [...howWeKnow(effect), ...whatWasSent(effect)]
  if (disputed) {
    return {
      tone: 'bad',
      answer: `Disputed: it is ${state}, and later evidence contradicts that.`,
      because: [
        'A final state never moves. Look at the evidence below, and settle it with the recipient.',
        ...because,
      ],
    }
  }
  const open = state === 'unknown' || state === 'planned' || state === 'attempting'
  return { tone, answer, because: open ? [...because, `Next: ${next.why}`] : because }
}

type State = ShownEffect['effect']['state']
type Answer = (recipient: string, attempts: readonly AttemptRecord[]) => { tone: Tone; answer: string }

const answers: Readonly<Record<State, Answer>> = {
  planned: (recipient, { length }) => ({
    tone: 'open',
    answer:
      length === 0
        ? `Not yet: nothing was sent to ${recipient}.`
        : `Not yet: ${recipient} did not act on what was sent.`,
  }),
  attempting: (recipient) => ({ tone: 'open', answer: `An attempt is on its way to ${recipient} now.` }),
  unknown: (recipient) => ({ tone: 'doubt', answer: `Nobody knows yet: ${recipient} may have acted.` }),
  confirmed: (recipient) => ({ tone: 'good', answer: `Yes: ${recipient} has done it.` }),
  refused: (recipient) => ({ tone: 'bad', answer: `No: ${recipient} refused it and did not act.` }),
  fenced: (recipient) => ({
    tone: 'set',
    answer: `No: ${recipient} had acted on a newer version and turned this one away.`,
  }),
  withdrawn: () => ({ tone: 'set', answer: 'No, and it never will: it was withdrawn.' }),
}

/** What moved it to where it is. */
function howWeKnow({ state, attempts, evidence }: ShownEffect['effect']): string[] {
  const entry = evidence.findLast(({ from, to }) => to === state && from !== to)
  if (entry !== undefined) {
    const by = entry.by === 'engine' ? '' : `, decided by ${entry.by}`
    return [`We know by ${sources[entry.kind]}${by}: ${entry.why}.`]
  }
  const attempt = attempts.findLast(({ outcome }) => outcome === state)
  if (attempt === undefined) return []
  const status = attempt.status === null ? '' : ` (HTTP ${attempt.status})`
  return state === 'unknown'
    ? [`Attempt ${attempt.number} got no answer that proves anything: ${attempt.why}.`]
    : [`We know by the answer to attempt ${attempt.number}${status}: ${attempt.why}.`]
}

const sources = {
  lookup: 'asking the recipient',
  tombstone: 'closing its key at the recipient',
  lease: 'the end of a lease',
  acceptance: 'asking the recipient what became of what it accepted',
  'late-answer': 'a late answer',
  operator: 'evidence from outside',
  escalation: 'an escalation',
} as const

/** Why a log can show an operation twice that happened once. */
function whatWasSent({ attempts }: ShownEffect['effect']): string[] {
  if (attempts.length === 0) return []
  if (attempts.length === 1) return ['It was sent once.']
  const earlier = attempts
    .slice(0, -1)
    .map(
      ({ number, outcome, why }) =>
        `attempt ${number} ${outcome === 'notActed' ? 'did not act' : `ended ${outcome ?? 'open'}`} (${why})`,
    )
  const told = earlier.length > 3 ? [...earlier.slice(0, 3), `${earlier.length - 3} more`] : earlier
  return [
    `It was sent ${attempts.length} times, always the same bytes under the same key, so a log shows it ${attempts.length} times: ${told.join('; ')}.`,
  ]
}
