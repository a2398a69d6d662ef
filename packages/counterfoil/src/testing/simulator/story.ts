import type { Violation } from './checks/index.ts'
import { type Fault, faultKinds } from './faults.ts'
import type { Entry, History } from './history.ts'

export interface Told {
  readonly history: History
  readonly faults: readonly Fault[]
  readonly shapes: Readonly<Record<string, string>>
  readonly violations: readonly Violation[]
}

/** What happened, step by step in words, with the time since the beginning; only what the violations are about. */
export function storyOf({ history, faults, shapes, violations }: Told): string {
  const start = Math.min(...history.entries.map(({ at }) => at), ...faults.map(({ at }) => at))
  const about = new Set(violations.map((violation) => violation.about))
  const lines: { at: number; text: string }[] = faults.map((fault) => ({
    at: fault.at,
    text: `! ${faultKinds[fault.kind]} (${fault.about}) [${fault.id}]`,
  }))
  for (const entry of history.entries) {
    const text = wordsOf(entry, history)
    if (text !== null && isAbout(entry, about, history)) lines.push({ at: entry.at, text })
  }
  const told = lines
    .map((line, index) => ({ ...line, index }))
    .sort((a, b) => a.at - b.at || a.index - b.index)
    .map(({ at, text }) => `${clock(at - start)}  ${text}`)
  const head = [
    `Seed ${history.seed}. Recipients: ${Object.entries(shapes)
      .map(([part, shape]) => `${part} is ${shape}`)
      .join(', ')}.`,
  ]
  const end = violations.map(
    ({ invariant, about: subject, says }) => `${invariant} is broken: ${subject}: ${says}.`,
  )
  return [...head, ...told, ...end].join('\n')
}

/** `1:02:03.004` since the beginning. */
function clock(ms: number): string {
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0')
  return `${Math.floor(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}.${String(ms % 1_000).padStart(3, '0')}`
}

function isAbout(entry: Entry, about: ReadonlySet<string>, { records, deliveries }: History): boolean {
  if (about.size === 0) return true
  switch (entry.kind) {
    case 'process':
      return true
    case 'sent':
    case 'heard':
    case 'acted':
    case 'intruded':
      return about.has(`${entry.recipient} ${entry.op}`)
    case 'asked':
    case 'closed':
      return records.effects.some(
        ({ recipient, key, idempotencyKey }) =>
          about.has(`${recipient} ${key}`) && entry.key === idempotencyKey,
      )
    case 'moved': {
      const effect = records.effects.find(({ id }) => id === entry.effect)
      return effect !== undefined && about.has(`${effect.recipient} ${effect.key}`)
    }
    case 'delivered':
    case 'acknowledged': {
      const delivery = deliveries.find(({ index }) => index === entry.delivery)
      return (
        about.has(`delivery ${entry.delivery}`) ||
        (entry.kind === 'acknowledged' && entry.receipt !== null && about.has(entry.receipt)) ||
        (delivery?.operations.some(({ recipient, op }) => about.has(`${recipient} ${op}`)) ?? false)
      )
    }
    default:
      return false
  }
}

function wordsOf(entry: Entry, { deliveries, records }: History): string | null {
  switch (entry.kind) {
    case 'delivered': {
      const delivery = deliveries.find(({ index }) => index === entry.delivery)
      const what = delivery === undefined ? '' : `, ${delivery.producer} ${delivery.id} ${delivery.type}`
      return `delivery ${entry.delivery}${what}, reaches process ${entry.process} (try ${entry.try})`
    }
    case 'acknowledged':
      return `delivery ${entry.delivery} is answered ${entry.status}${entry.outcome === null ? '' : ` ${entry.outcome}`}`
    case 'sent':
      return `process ${entry.process} sends ${entry.op} to ${entry.recipient}, request ${entry.nth}`
    case 'heard':
      return `process ${entry.process} hears of request ${entry.nth} of ${entry.op}: ${entry.status ?? entry.exchange}`
    case 'acted':
      return `${entry.recipient} acts on ${entry.op}${entry.version === null ? '' : `, version ${entry.version}`}`
    case 'intruded':
      return `somebody else sends another payload under the key of ${entry.op} to ${entry.recipient}: ${entry.status}`
    case 'asked':
    case 'closed': {
      const effect = records.effects.find(({ idempotencyKey }) => idempotencyKey === entry.key)
      const what = entry.kind === 'asked' ? 'asks what became of' : 'closes the key of'
      return `process ${entry.process} ${what} ${effect?.key ?? entry.key} at ${entry.recipient}: ${entry.status ?? 'no answer'}`
    }
    case 'process':
      return `process ${entry.process} ${entry.what}`
    case 'decided':
      return `an operator's ${entry.act} of ${entry.entry}: ${entry.outcome}`
    case 'moved': {
      const effect = records.effects.find(({ id }) => id === entry.effect)
      return `in all, ${effect?.key ?? entry.effect} went from ${entry.from} to ${entry.to}`
    }
    case 'backfilled':
      return `backfill ${entry.run} causes ${entry.caused} effects`
    case 'alerted':
    case 'logged':
      return null
  }
}
