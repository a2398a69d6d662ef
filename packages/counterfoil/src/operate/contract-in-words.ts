import {
  type AnswerPattern,
  alertUnsentAfterMs,
  type Contract,
  closableMs,
  closingFrom,
  escalateAfterMs,
  type Idempotency,
  inWords,
  type Lookup,
  maxRetryAfterMs,
  milliseconds,
  type Ordering,
  trustedMs,
} from '../domain/index.ts'

/** What `counterfoil check` prints of a recipient: its promises, and what the engine does because of them. */
export function contractInWords(contract: Contract): string[] {
  const { idempotency, lookup, ordering } = contract
  return [
    ...(idempotency === undefined ? ['It recognises no repeated request by a key.'] : aboutKey(idempotency)),
    ...aboutRepeats(contract),
    ...(lookup === undefined ? ['It offers no lookup.'] : aboutLookup(lookup)),
    ...(ordering === undefined
      ? ['It compares no versions: no effect may claim order here.']
      : aboutOrdering(ordering)),
    ...aboutEnd(contract),
    ...aboutAnswers(contract),
  ]
}

function aboutKey(idempotency: Idempotency): string[] {
  const {
    header,
    pointer,
    query,
    scope = 'account',
    remembersFor,
    otherPayload,
    inFlight,
    replays,
    marker,
  } = idempotency
  const place = header ?? (pointer === undefined ? `the query's ${query}` : `the body's ${pointer}`)
  const howLong = {
    forever: 'is remembered for ever',
    unstated: 'is remembered for a time that the recipient does not state',
  }
  const remembered =
    remembersFor === 'forever' || remembersFor === 'unstated'
      ? howLong[remembersFor]
      : `is remembered for ${inWords(milliseconds(remembersFor))}`
  const lines = [`The key travels in ${place} and ${remembered}, within one ${scope}.`]
  const other = {
    refused: 'is refused',
    'first-answer':
      'gets the first answer, as if it were the same: never reuse an effect key for another payload',
    unstated: 'gets what the recipient does not state',
  }
  lines.push(`Another payload under a remembered key ${other[otherPayload]}.`)
  if (inFlight === 'waits') lines.push('A repeat waits while the first request is in work.')
  if (typeof inFlight === 'object')
    lines.push(
      `While the first request is in work a repeat gets ${pattern(inFlight)}: it is waited for and repeated.`,
    )
  const stored = {
    'first-success': 'A repeat gets the stored answer if the first request succeeded.',
    'first-answer': 'A repeat gets the first answer, whatever it was.',
    nothing: 'A repeat gets no stored answer.',
    unstated: 'What a repeat gets is not stated.',
  }
  lines.push(stored[replays])
  if (marker !== undefined) {
    const value = marker.equals === undefined ? '' : ` = ${JSON.stringify(marker.equals)}`
    lines.push(`A replayed answer is known by ${marker.header ?? marker.pointer}${value}.`)
  }
  return lines
}

function aboutRepeats(contract: Contract): string[] {
  const { idempotency, ordering } = contract
  if (ordering?.conditional !== undefined) {
    return [
      'After an unknown outcome the same request may be repeated at any time: its precondition holds once only.',
    ]
  }
  const { remembersFor, replays } = idempotency ?? {}
  const never = 'so after an unknown outcome nothing is ever sent again'
  if (remembersFor === undefined) return [`After an unknown outcome nothing is ever sent again.`]
  if (replays === 'nothing') return [`A repeat would tell nothing, ${never}.`]
  if (remembersFor === 'unstated') return [`No repeat is known to be safe, ${never}.`]
  if (remembersFor === 'forever')
    return ['After an unknown outcome the same request may be repeated under the same key at any time.']
  const until = inWords(trustedMs(remembersFor))
  const lines = [
    `After an unknown outcome the same request may be repeated under the same key until ${until} after the first attempt, never later.`,
  ]
  const closable = closableMs(contract)
  if (ordering?.tombstone !== undefined && Number.isFinite(closable)) {
    lines.push(
      `From ${inWords(closable * closingFrom.repeating)} after the first attempt its key is closed instead, while that still proves something.`,
    )
  }
  return lines
}

function aboutLookup(lookup: Lookup): string[] {
  const { absence } = lookup
  const where = lookup.by === 'function' ? "by the recipient's lookup function" : `at ${lookup.path}`
  const only = lookup.by === 'correlation' ? ', if an answer carried the id' : ''
  return [
    `After an unknown outcome it is asked ${where}${only}, first after ${inWords(milliseconds(lookup.after ?? '1s'))}.`,
    absence.final
      ? `"Not there" is proof ${inWords(milliseconds(absence.after ?? 0))} after the last attempt ended and as long as the act could be found, and the effect may then be attempted again.`
      : '"Not there" is only a hint: a stalled request may still land.',
    ...(lookup.answers ?? []).map((rule) => `A lookup answered ${pattern(rule)} means ${rule.means}.`),
  ]
}

function aboutOrdering({ fence, conditional, tombstone, inTurn }: Ordering): string[] {
  const lines: string[] = []
  if (inTurn === true)
    lines.push(
      'It keeps the order in which it is called: an effect waits until every earlier version of its ordering domain is final, also while one of them waits for a person.',
    )
  if (fence === undefined) {
    if (inTurn !== true) lines.push('It compares no versions: no effect may claim order here.')
  } else
    lines.push(
      `It rejects an older version in ${fence.header} with ${fence.rejectedWith}: such an effect ends fenced.`,
    )
  if (conditional !== undefined) {
    const place = conditional.header ?? conditional.pointer
    lines.push(
      `Each request carries its precondition in ${place}; one that no longer holds is answered ${conditional.rejectedWith}, and the effect ends fenced, or stays unknown where an earlier attempt may have broken it.`,
    )
  }
  if (tombstone !== undefined) {
    lines.push(
      `It closes keys with ${tombstone.method} ${tombstone.path}: what nothing else can settle is closed there, and is then withdrawn, or confirmed if it had acted.`,
      ...(tombstone.answers ?? []).map(
        (rule) => `A tombstone answered ${pattern(rule)} means ${rule.means}.`,
      ),
    )
  }
  return lines
}

function aboutEnd({ idempotency, lookup, ordering }: Contract): string[] {
  const { remembersFor, replays } = idempotency ?? {}
  const byKey = remembersFor !== undefined && remembersFor !== 'unstated' && replays !== 'nothing'
  const repeats = byKey || ordering?.conditional !== undefined
  const day = inWords(escalateAfterMs)
  if (ordering?.tombstone !== undefined)
    return [`An effect that cannot be closed either goes to a person after ${day}.`]
  if (!repeats && lookup === undefined) return ['So an unknown outcome goes straight to a person.']
  return [
    `What stays unknown goes to a person when the contract allows nothing more; while it allows repeats, its owner is told after ${day}.`,
  ]
}

function aboutAnswers({ outcomes, waits }: Contract): string[] {
  const lines = (outcomes ?? []).map((rule) => `An answer ${pattern(rule)} means ${rule.means}.`)
  lines.push(
    'Other answers: 2xx confirms; 401, 403 and 407 prove that it did not act, and its owner is told; 408, 409, 425, 429 and 5xx leave it unknown; any other 4xx refuses it.',
    `What provably did not act is attempted again, and its owner is told after ${inWords(alertUnsentAfterMs)}.`,
  )
  const where = (waits ?? []).map((rule) => rule.header ?? rule.pointer)
  lines.push(
    `It waits as long as Retry-After${where.length === 0 ? '' : `, ${where.join(', ')}`} or RateLimit asks, at most ${inWords(maxRetryAfterMs)}.`,
  )
  return lines
}

function pattern({ status, header, body }: AnswerPattern): string {
  const parts = [String(status)]
  if (header !== undefined)
    parts.push(header.equals === undefined ? `with ${header.name}` : `with ${header.name} = ${header.equals}`)
  if (body !== undefined) parts.push(`with ${body.pointer} = ${JSON.stringify(body.equals)}`)
  return parts.join(' ')
}
