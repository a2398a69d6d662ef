import type { Entry, EntryOf, History, Promises } from '../history.ts'
import type { Check } from './violation.ts'

/** All that was seen of one operation at one recipient, in its order. */
interface Operation {
  readonly name: string
  readonly promises: Promises
  readonly sent: EntryOf<'sent'>[]
  readonly sentAt: number[]
  readonly heard: (EntryOf<'heard'> & { readonly at: number })[]
  readonly acted: (EntryOf<'acted'> & { readonly at: number })[]
}

/** I9 to I11, I14 to I16: how often a recipient acted, and whether each repeat had the contract's leave. */
export const checkActs: Check = (history, found) => {
  const answers = answersByKey(history.entries)
  for (const operation of operationsOf(history)) {
    checkCount(operation, found)
    checkRepeats(operation, answers, found)
    checkTombstone(operation, answers, found)
    checkLateActs(operation, found)
  }
  checkOrder(history, found)
}

export function operationsOf({ entries, promises }: History): Operation[] {
  const operations = new Map<string, Operation>()
  for (const entry of entries) {
    if (entry.kind !== 'sent' && entry.kind !== 'heard' && entry.kind !== 'acted') continue
    const name = `${entry.recipient} ${entry.op}`
    let operation = operations.get(name)
    if (operation === undefined) {
      const known = promises.get(entry.recipient)
      if (known === undefined) continue
      operation = { name, promises: known, sent: [], sentAt: [], heard: [], acted: [] }
      operations.set(name, operation)
    }
    if (entry.kind === 'sent') {
      operation.sent.push(entry)
      operation.sentAt.push(entry.at)
    } else if (entry.kind === 'heard') operation.heard.push(entry)
    else operation.acted.push(entry)
  }
  return [...operations.values()]
}

function checkCount({ name, promises, acted }: Operation, found: Parameters<Check>[1]): void {
  if (acted.length <= 1) return
  const says = `it acted ${acted.length} times`
  if (promises.repeats === 'replayed' || promises.conditional) found('I9', name, says)
  else found(promises.lookup !== null || promises.repeats !== null ? 'I10' : 'I11', name, says)
}

type Answers = ReadonlyMap<string, readonly (EntryOf<'asked' | 'closed'> & { readonly at: number })[]>

function answersByKey(entries: readonly Entry[]): Answers {
  const byKey = new Map<string, (EntryOf<'asked' | 'closed'> & { readonly at: number })[]>()
  for (const entry of entries) {
    if (entry.kind !== 'asked' && entry.kind !== 'closed') continue
    const name = `${entry.recipient} ${entry.key}`
    byKey.set(name, [...(byKey.get(name) ?? []), entry])
  }
  return byKey
}

/** Statuses that prove, at every recipient here, that this very request did not act. */
const refusals = new Set([401, 429])

function checkRepeats(
  { name, promises, sent, sentAt, heard }: Operation,
  answers: Answers,
  found: Parameters<Check>[1],
): void {
  let open: number | undefined
  for (const [index, request] of sent.entries()) {
    const at = sentAt[index]!
    if (open !== undefined) {
      const absent = provenAbsent(promises, request, { first: sentAt[0]!, open, now: at }, answers)
      if (!absent) checkLeave(name, promises, sent[0]!, at - sentAt[0]!, found)
      if (absent) open = undefined
    }
    const told = heard.find(({ nth, at: when }) => nth === request.nth && when >= at)
    // 429 is not read as "did not act" by a contract that does not say so; the recipients here mean it.
    const provesNothing = told === undefined || told.exchange !== 'notSent'
    if (
      provesNothing &&
      !(told?.status !== null && told !== undefined && refusals.has(told.status ?? 0) && told.status === 401)
    )
      open = Math.max(open ?? 0, told?.at ?? at)
  }
}

/** What a repeat needs where an earlier request may have acted. */
function checkLeave(
  name: string,
  promises: Promises,
  first: EntryOf<'sent'>,
  ageMs: number,
  found: Parameters<Check>[1],
): void {
  if (promises.conditional) return
  if (promises.repeats !== 'replayed') {
    const invariant = promises.lookup === null && promises.repeats === null ? 'I11' : 'I10'
    found(
      invariant,
      name,
      `it was sent again, ${ageMs} ms after the first time, without proof that it had not acted`,
    )
  } else if (promises.unstated) {
    found('I16', name, 'it was sent again to a recipient that does not say how long it remembers')
  } else if (ageMs > promises.remembersMs) {
    found(
      'I16',
      name,
      `it was sent again ${ageMs} ms after request ${first.nth}, and keys are remembered for ${promises.remembersMs} ms`,
    )
  }
}

/** A lookup that said "not there", late enough that nothing could still land, and before anything was forgotten. */
function provenAbsent(
  { lookup, repeats, remembersMs }: Promises,
  { recipient, key }: EntryOf<'sent'>,
  { first, open, now }: { readonly first: number; readonly open: number; readonly now: number },
  answers: Answers,
): boolean {
  if (lookup === null || lookup.finalAfterMs === null || key === null) return false
  const asked = answers.get(`${recipient} ${unquoted(key)}`) ?? []
  // Clocks here differ by a few seconds.
  const earliest = open + lookup.finalAfterMs - 6_000
  const forgets = repeats === null ? Number.POSITIVE_INFINITY : remembersMs
  const latest = Math.min(now, first + (lookup.findsForMs ?? forgets))
  return asked.some(
    ({ kind, status, at }) => kind === 'asked' && status === 404 && at >= earliest && at <= latest,
  )
}

/** Where absence becomes final nothing acts after that: a lookup may have called it absent. */
function checkLateActs(
  { name, promises: { lookup }, sentAt, acted }: Operation,
  found: Parameters<Check>[1],
): void {
  const finalAfterMs = lookup?.finalAfterMs ?? null
  if (finalAfterMs === null) return
  for (const { at } of acted) {
    const sent = Math.max(...sentAt.filter((when) => when <= at))
    if (at - sent > finalAfterMs)
      found(
        'I10',
        name,
        `it acted ${at - sent} ms after it was sent, and is absent for good after ${finalAfterMs} ms`,
      )
  }
}

/** The guard's header is a structured field: a quoted string. */
function unquoted(key: string): string {
  return key.startsWith('"') ? key.slice(1, -1) : key
}

function checkTombstone(
  { name, sent, acted }: Operation,
  answers: Answers,
  found: Parameters<Check>[1],
): void {
  const first = sent[0]
  if (first === undefined || first.key === null) return
  const closed = (answers.get(`${first.recipient} ${unquoted(first.key)}`) ?? []).find(
    ({ kind, status }) => kind === 'closed' && status !== null && status >= 200 && status < 300,
  )
  const after = acted.find(({ at }) => closed !== undefined && at > closed.at)
  if (after !== undefined)
    found('I15', name, `it acted at ${after.at}, after its key was closed at ${closed!.at}`)
}

/** I14: a recipient's state never goes back, and an effect that claims a place in an order always brings it. */
function checkOrder({ entries, records, promises }: History, found: Parameters<Check>[1]): void {
  const newest = new Map<string, number>()
  const orders = new Map(records.effects.map(({ recipient, key, order }) => [`${recipient} ${key}`, order]))
  for (const entry of entries) {
    if (entry.kind === 'acted' && entry.version !== null) {
      const domain = `${entry.recipient} ${entry.domain}`
      const held = newest.get(domain) ?? 0
      if (entry.version < held)
        found(
          'I14',
          `${entry.recipient} ${entry.op}`,
          `version ${entry.version} acted after ${held} in ${domain}`,
        )
      const order = orders.get(`${entry.recipient} ${entry.op}`)
      if (order !== undefined && order !== null && order.domain !== entry.domain)
        found(
          'I14',
          `${entry.recipient} ${entry.op}`,
          `it was compared in the domain ${entry.domain}, not ${order.domain}`,
        )
      newest.set(domain, Math.max(held, entry.version))
    }
    if (entry.kind === 'sent' && promises.get(entry.recipient)?.fences === true) {
      const order = orders.get(`${entry.recipient} ${entry.op}`)
      if (order !== undefined && (order?.version ?? null) !== entry.version)
        found(
          'I14',
          `${entry.recipient} ${entry.op}`,
          `it was sent with the version ${entry.version}, not ${order?.version}`,
        )
    }
  }
}
