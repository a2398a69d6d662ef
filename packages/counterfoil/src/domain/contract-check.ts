import { fitsStatus } from './answer-pattern.ts'
import type { AnswerPattern, Contract, Idempotency, Lookup, Ordering } from './contract.ts'
import { milliseconds } from './duration.ts'
import { effectKey, idempotencyKey } from './effect-identity.ts'
import { CounterfoilError } from './errors.ts'
import { isPointer } from './json-pointer.ts'

/** Why a contract is refused, and what to write instead. */
type Fault = readonly [why: string, hint: string]

/** Refuses a contract that contradicts itself. @throws CounterfoilError `contract_invalid`. */
export function checkContract(recipient: string, contract: Contract): void {
  for (const [why, hint] of faultsOf(contract)) {
    throw new CounterfoilError('contract_invalid', `The contract of recipient '${recipient}' ${why}.`, {
      hint,
    })
  }
}

function* faultsOf(contract: Contract): Generator<Fault> {
  const { idempotency, lookup, ordering, correlation } = contract
  if (idempotency !== undefined) yield* ofKey(idempotency)
  if (correlation !== undefined) yield* ofPlace(correlation, 'correlation', 'Operation-Id')
  if (lookup !== undefined) yield* ofLookup(lookup, contract)
  if (ordering !== undefined) yield* ofOrdering(ordering, contract)
  for (const header of [contract.times?.plannedAt, contract.times?.begunAt])
    if (header !== undefined && !isHeaderName(header))
      yield ['wants a time in no valid header', 'Use a header name such as Attempt-Begun-At.']
  for (const rule of contract.waits ?? []) {
    yield* ofPlace(rule, 'wait', 'X-RateLimit-Reset')
    if (rule.when !== undefined) yield* ofPattern(rule.when)
  }
  yield* ofRules(contract.outcomes)
  yield* ofRules(lookup?.answers)
  yield* ofRules(ordering?.tombstone?.answers)
  yield* ofMeanings(contract)
}

function* ofKey(idempotency: Idempotency): Generator<Fault> {
  const { remembersFor, replays, otherPayload, inFlight, marker } = idempotency
  const places = [idempotency.header, idempotency.pointer, idempotency.query].filter(
    (place) => place !== undefined,
  )
  if (places.length !== 1) {
    yield ['puts the key in no place or in several', 'Name one of header, pointer and query.']
  }
  yield* ofPlace(idempotency, 'key', 'Idempotency-Key')
  if (idempotency.query !== undefined && !/^[A-Za-z0-9._~-]{1,100}$/.test(idempotency.query))
    yield ['names no valid query member for the key', 'Use a plain name such as requestId.']
  if (typeof remembersFor === 'number' || !['forever', 'unstated'].includes(remembersFor)) {
    if (milliseconds(remembersFor as number) <= 0)
      yield ['remembers keys for no time at all', 'Leave idempotency out.']
  }
  try {
    idempotencyKey({
      recipient: 'r',
      key: effectKey('k'),
      ...(idempotency.format === undefined ? {} : { format: idempotency.format }),
    })
  } catch (error) {
    yield [
      `has a key format that is unfit: ${(error as Error).message.replace(/\.$/, '')}`,
      (error as CounterfoilError).hint ?? '',
    ]
  }
  if (replays === 'nothing' && otherPayload === 'first-answer')
    yield ['gives the first answer to another payload and replays nothing', 'One of the two is not so.']
  if (marker !== undefined) {
    yield* ofPlace(marker, 'marker', 'Idempotent-Replayed')
    if (replays === 'nothing') yield ['marks what it replays and replays nothing', 'Drop one of the two.']
  }
  if (typeof inFlight === 'object') yield* ofPattern(inFlight)
}

function* ofLookup(lookup: Lookup, { idempotency, correlation }: Contract): Generator<Fault> {
  if (lookup.by === 'key') {
    if (idempotency === undefined)
      yield ['offers a lookup by key but takes no key', 'Say in idempotency where the key goes.']
    if (!lookup.path.includes('{key}'))
      yield ['has a lookup path without {key}', "Write it as '/operations/{key}'."]
  }
  if (lookup.by === 'correlation') {
    if (correlation === undefined) {
      const hint = "Add correlation: where the recipient's own id stands in an answer."
      yield ['offers a lookup by correlation but says not where that comes from', hint]
    }
    if (!lookup.path.includes('{correlation}'))
      yield ['has a lookup path without {correlation}', "Write it as '/operations/{correlation}'."]
  }
  if (lookup.by === 'function' && lookup.path !== undefined)
    yield ['asks by a function and names a path too', 'Drop the path.']
  if (lookup.absence.final && lookup.absence.after === undefined) {
    const hint = 'Add absence.after, the bound on how late a request may act.'
    yield ['calls absence final without saying when', hint]
  }
  const unstated =
    lookup.by === 'key' && lookup.findsFor === undefined && idempotency?.remembersFor === 'unstated'
  if (lookup.absence.final && unstated) {
    const hint = 'Add lookup.findsFor: what it has forgotten is "not there" too.'
    yield ['calls absence final and says not how long it can find what it did', hint]
  }
  const notThere = lookup.answers?.find((rule) => rule.status === 404 && isPlain(rule))
  const tellsAbsence = notThere === undefined || lookup.answers?.some(({ means }) => means === 'absent')
  if (lookup.absence.final && !tellsAbsence)
    yield [
      'calls absence final and has no answer that means absent',
      'Say which answer means that it is not there.',
    ]
}

function* ofOrdering(ordering: Ordering, contract: Contract): Generator<Fault> {
  const { fence, conditional, tombstone, inTurn } = ordering
  const { idempotency, outcomes } = contract
  if ([fence, conditional, tombstone, inTurn].every((kind) => kind === undefined))
    yield [
      'has an ordering of no kind',
      'Name a fence, a conditional request, a tombstone or inTurn, or leave it out.',
    ]
  if (inTurn !== undefined && inTurn !== true)
    yield ['takes effects in turn and does not', 'Write inTurn: true, or leave it out.']
  const keyHeader = idempotency?.header?.toLowerCase()
  if (fence !== undefined) {
    const { header, domain } = fence
    if (!isHeaderName(header) || (domain !== undefined && !isHeaderName(domain)))
      yield ['names no valid fence header', 'Use header names such as Fence-Version and Fence-Domain.']
    const names = [keyHeader, header.toLowerCase(), domain?.toLowerCase()].filter(
      (name) => name !== undefined,
    )
    if (new Set(names).size < names.length)
      yield ['puts key and version into one header, or version and domain', 'Name a header for each.']
    yield* ofRejection('old versions', fence.rejectedWith, outcomes)
  }
  if (conditional !== undefined) {
    yield* ofPlace(conditional, 'condition', 'If-Match')
    const header = conditional.header?.toLowerCase()
    if (header !== undefined && (header === keyHeader || header === fence?.header.toLowerCase()))
      yield ['puts the condition into a header that has another use', 'Name two headers.']
    yield* ofRejection('broken conditions', conditional.rejectedWith, outcomes)
  }
  if (tombstone !== undefined) {
    if (idempotency === undefined)
      yield ['closes keys but takes none', 'Say in idempotency where the key goes.']
    if (tombstone.findsFor === undefined && idempotency?.remembersFor === 'unstated')
      yield ['closes keys and says not how long it knows them', 'Add tombstone.findsFor.']
    if (!tombstone.path.includes('{key}'))
      yield ['has a tombstone path without {key}', "Write it as '/operations/{key}/tombstone'."]
    if (!['PUT', 'POST', 'DELETE'].includes(tombstone.method))
      yield [`places tombstones with ${tombstone.method}`, 'Use PUT, POST or DELETE.']
  }
}

function* ofRejection(what: string, status: number, outcomes: Contract['outcomes']): Generator<Fault> {
  if (!(status >= 400 && status <= 499)) yield [`rejects ${what} with no 4xx status`, 'Use 412.']
  // The first rule for the status decides; a class such as 4xx would hide the rejection as well.
  const other = outcomes?.find((rule) => fitsStatus(rule.status, status) && isPlain(rule))
  if (other !== undefined && other.means !== 'fenced')
    yield [`reads ${status} both as fenced and as ${other.means}`, 'Drop one of the two.']
}

/** What one part says against another. */
function* ofMeanings({ idempotency, lookup, ordering, outcomes }: Contract): Generator<Fault> {
  const means = (meaning: string) => outcomes?.some((rule) => rule.means === meaning) === true
  if (means('accepted') && lookup === undefined) {
    const hint = 'Add a lookup, or read that answer as confirmed if it is as good as done.'
    yield ['accepts what it will do later and offers no lookup to learn the end', hint]
  }
  if (means('fenced') && ordering?.fence === undefined && ordering?.conditional === undefined)
    yield ['reads an answer as fenced and compares no versions', 'Add ordering, or read it as refused.']
  const { inFlight } = idempotency ?? {}
  const twice =
    typeof inFlight !== 'object'
      ? undefined
      : outcomes?.find((rule) => isSame(rule, inFlight) && rule.means !== 'unknown')
  if (twice !== undefined) {
    const hint = 'The first request may still act: drop the rule.'
    yield [`reads ${twice.status} both as still in work and as ${twice.means}`, hint]
  }
}

// A rule that can never match would leave an error in a 200 confirmed.
function* ofRules(rules: readonly (AnswerPattern & { readonly means: string })[] = []): Generator<Fault> {
  for (const [index, rule] of rules.entries()) {
    yield* ofPattern(rule)
    const before = rules.slice(0, index).find((earlier) => hides(earlier, rule))
    if (before !== undefined)
      yield [
        `has a rule for ${rule.status} that an earlier one for ${before.status} hides`,
        'Put the narrower rule first.',
      ]
  }
}

function* ofPattern({ status, header, body }: AnswerPattern): Generator<Fault> {
  if (!/^[1-5](\d\d|xx)$/.test(String(status)))
    yield [`has a rule for the status ${status}`, 'Use 100 to 599, or a class such as 4xx.']
  if (body !== undefined && !isPointer(body.pointer))
    yield [`points at '${body.pointer}'`, "Write a JSON Pointer such as '/error/code'."]
  if (header !== undefined && !isHeaderName(header.name))
    yield ['has a rule for no valid header', 'Use a header name such as X-Error-Code.']
}

function* ofPlace(
  place: { readonly header?: string | undefined; readonly pointer?: string | undefined },
  what: string,
  example: string,
): Generator<Fault> {
  const { header, pointer } = place
  if (header !== undefined && !isHeaderName(header))
    yield [`names no valid ${what} header`, `Use a header name such as ${example}.`]
  if (pointer !== undefined && (!isPointer(pointer) || pointer === ''))
    yield [`points at '${pointer}'`, "Write a JSON Pointer such as '/id'."]
}

function hides(earlier: AnswerPattern, later: AnswerPattern): boolean {
  const covers =
    typeof later.status === 'number'
      ? fitsStatus(earlier.status, later.status)
      : earlier.status === later.status
  return covers && (isPlain(earlier) || isSame({ ...earlier, status: later.status }, later))
}

function isPlain({ header, body }: AnswerPattern): boolean {
  return header === undefined && body === undefined
}

function isSame(a: AnswerPattern, b: AnswerPattern): boolean {
  const text = ({ status, header, body }: AnswerPattern) =>
    JSON.stringify([status, header?.name.toLowerCase(), header?.equals, body?.pointer, body?.equals])
  return text(a) === text(b)
}

function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)
}
