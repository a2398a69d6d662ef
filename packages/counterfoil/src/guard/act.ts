import type { Answer } from './answer.ts'
import { fromResponse, type StoredAnswer, toStored } from './answer.ts'
import type { Call } from './call.ts'
import { type AgeRules, decide } from './decide.ts'
import type { Refusal } from './refusal.ts'
import { type Steps, step } from './steps.ts'
import type { Outcome, Session } from './store.ts'

export interface ActRules extends AgeRules {
  /** A 5xx is an answer like any other: committed, kept and replayed. */
  readonly storeServerErrors: boolean
  readonly maxAnswerBytes: number
  readonly fenceVersionHeader: string
}

/** What became of a request. */
export type Result =
  /** The handler ran and all is committed together; the first answer. */
  | { readonly kind: 'acted'; readonly answer: StoredAnswer }
  | { readonly kind: 'replayed'; readonly answer: StoredAnswer }
  /** Nothing was done. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The handler answered 5xx: what it did is undone, nothing is kept, and the next attempt acts. */
  | { readonly kind: 'undone'; readonly answer: StoredAnswer }

export type RunHandler<Tx> = (tx: Tx) => Answer | Response | Promise<Answer | Response>

/**
 * One guarded request, top to bottom, in one transaction: take the key, decide, compare the fence, let the handler
 * write, keep its answer. A crash anywhere leaves nothing of it.
 */
export function* act<Tx>(
  session: Session<Tx>,
  call: Call,
  rules: ActRules,
  handler: RunHandler<Tx>,
): Steps<Outcome<Result>> {
  const claim = yield* step(session.claim(call.id))
  if (call.id !== null) {
    const verdict = decide(call, claim, rules)
    if (verdict.kind === 'replay') return undo({ kind: 'replayed', answer: verdict.answer })
    if (verdict.kind === 'refuse') return undo({ kind: 'refused', refusal: verdict.refusal })
  }
  if (call.place !== null) {
    const current = yield* step(session.raise(call.place))
    if (current !== null) return undo({ kind: 'refused', refusal: fenced(call, current, rules) })
  }
  const given = yield* step(handler(session.tx))
  const answer = toStored(
    given instanceof Response ? yield* step(fromResponse(given)) : given,
    rules.maxAnswerBytes,
  )
  if (answer.status >= 500 && !rules.storeServerErrors) return undo({ kind: 'undone', answer })
  if (call.id !== null && call.key !== null) {
    const { id, key, fingerprint, plannedAt } = call
    const expiresAt = claim.now + rules.remembersForMs
    yield* step(session.keep({ id, key, fingerprint, plannedAt, at: claim.now, expiresAt, answer }))
  }
  return { commit: true, value: { kind: 'acted', answer } }
}

function undo(value: Result): Outcome<Result> {
  return { commit: false, value }
}

function fenced({ place }: Call, current: bigint, rules: ActRules): Refusal {
  return {
    code: 'guard_fenced',
    detail:
      current === place?.version
        ? `Version ${current} has acted under another key.`
        : `Version ${current} has acted already.`,
    headers: { [rules.fenceVersionHeader]: String(current) },
    // Text: a JSON number would lose what a version beyond 2^53 says.
    members: { current: String(current) },
  }
}
