import { CounterfoilError, type Duration, type Instant, milliseconds } from '../domain/index.ts'
import {
  type QuarantineQuery,
  type QuarantineReason,
  type QuarantineState,
  quarantineReasons,
  quarantineStates,
} from '../store/index.ts'

/** What entries may be asked for by, in the words of the command line and of HTTP. */
export const filterNames = [
  'producer',
  'type',
  'reason',
  'owner',
  'assignee',
  'state',
  'event',
  'until',
  'older',
] as const

export type NamedFilter = Omit<QuarantineQuery, 'limit' | 'before' | 'after' | 'through'>

const maxText = 512

/**
 * Reads `producer=stripe`, `assignee=-` (nobody), `until=2026-12-01T00:00:00Z`, `older=24h` and so on.
 *
 * @throws CounterfoilError `usage_invalid`
 */
export function readFilter(given: Iterable<readonly [string, string]>, now: Instant): NamedFilter {
  const filter: Record<string, string | number | null> = {}
  for (const [name, value] of given) {
    const read = readers[name as keyof typeof readers]
    if (read === undefined) throw invalid(`There is no filter '${name.slice(0, 50)}'.`)
    if (value === '' || value.length > maxText) throw invalid(`The filter '${name}' has no usable value.`)
    const member = name === 'older' ? 'until' : name
    if (member in filter) throw invalid(`The filter '${member}' is given twice.`)
    filter[member] = read(value, now)
  }
  return filter as NamedFilter
}

const readers = {
  producer: text,
  type: text,
  reason: (value: string): QuarantineReason => oneOf('reason', value, quarantineReasons),
  owner: text,
  assignee: (value: string) => (value === '-' ? null : value),
  state: (value: string): QuarantineState => oneOf('state', value, quarantineStates),
  event: text,
  until: instant,
  older: (value: string, now: Instant) => now - duration(value),
} satisfies Record<(typeof filterNames)[number], (value: string, now: Instant) => string | number | null>

function text(value: string): string {
  return value
}

function instant(value: string): Instant {
  const at = Date.parse(value)
  if (Number.isNaN(at)) throw invalid(`'${value}' is no time such as 2026-12-01T00:00:00Z.`)
  return at
}

function duration(value: string): number {
  try {
    return milliseconds(value as Duration)
  } catch {
    throw invalid(`'${value}' is no length of time such as 30m or 24h.`)
  }
}

function oneOf<const Choice extends string>(name: string, value: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((one) => one === value)
  if (choice === undefined) throw invalid(`${name} '${value}' is none of: ${choices.join(', ')}.`)
  return choice
}

function invalid(message: string): CounterfoilError {
  return new CounterfoilError('usage_invalid', message, { hint: `Filters: ${filterNames.join(', ')}.` })
}
