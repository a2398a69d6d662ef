import { type Answered, dependsOnBody, hasMember, readMember, ruleFor } from './answer-pattern.ts'
import type { AnswerPattern, Contract } from './contract.ts'
import type { Exchange } from './exchange.ts'
import { waitMs } from './wait.ts'

/** What one attempt's answer proves (design.md section 3). */
export type Outcome = {
  readonly kind: 'confirmed' | 'refused' | 'fenced' | 'notActed' | 'unknown'
  /** One plain clause: why it was read so. */
  readonly why: string
  /** With `unknown`: the recipient has taken it on and will act later, so it is asked and not repeated. */
  readonly accepted?: true
  /** Repeating will not mend it, so its owner is told at once. */
  readonly alert?: 'credentials-refused' | 'endpoint-switched-off'
  /** Its owner is told of the recipient as a whole, and not of each effect that waits for it. */
  readonly toldAsWhole?: true
  readonly status?: number
  /** How long the recipient asked to be left alone, bounded. */
  readonly retryAfterMs?: number
  /** How long everything sent there waits, where that is another time. */
  readonly quietMs?: number
  /** The recipient's own id of the operation. */
  readonly correlation?: string
}

/** What one lookup proves. Absence is final only by the contract, which the policy decides. */
export type LookupFinding = {
  readonly kind: 'acted' | 'refused' | 'absent' | 'pending' | 'nothing'
  readonly why: string
  readonly status?: number
  readonly correlation?: string
}

/** What the answer to a tombstone proves: the effect can never act, or it has, or it was refused before. */
export type TombstoneFinding = {
  readonly kind: 'closed' | 'acted' | 'refused' | 'nothing'
  readonly why: string
  readonly status?: number
  readonly correlation?: string
}

/**
 * Who is not let in has not been served (RFC 9110 sections 15.5.2, 15.5.4, 15.5.8). The cure is another
 * credential or right, not another effect: so the effect stays planned and its owner is told.
 */
const credentialStatuses = [401, 403, 407]

/** Reads an attempt's exchange by the contract. Pure. Default rules: design.md section 3, Contracts. */
export function classify(contract: Contract, exchange: Exchange, now: number): Outcome {
  if (exchange.kind === 'notSent') return { kind: 'notActed', why: `nothing was sent: ${exchange.why}` }
  if (exchange.kind === 'unclear') return { kind: 'unknown', why: exchange.why }
  const { status } = exchange
  const about = {
    status,
    ...optional('retryAfterMs', waitMs(contract, exchange, now)),
    ...optional('correlation', correlationOf(contract, exchange)),
  }
  const { inFlight, marker } = contract.idempotency ?? {}
  const stillInWork = typeof inFlight === 'object' ? [inFlight] : []
  if (ruleFor(stillInWork, exchange) !== undefined) {
    return {
      kind: 'unknown',
      why: `answered ${status}: the first request under this key is still in work`,
      ...about,
    }
  }
  const replayed =
    marker !== undefined && hasMember(exchange, marker) ? ', replayed from an earlier request' : ''
  const rule = ruleFor(contract.outcomes, exchange)
  if (rule?.means === 'accepted') {
    return { kind: 'unknown', accepted: true, why: `answered ${status}: accepted and not yet done`, ...about }
  }
  if (rule !== undefined) {
    const kind = rule.means === 'not-acted' ? 'notActed' : rule.means
    return { kind, why: `the contract reads ${status} so${replayed}`, ...about }
  }
  if (dependsOnBody([...stillInWork, ...(contract.outcomes ?? [])], exchange)) {
    const why = `answered ${status} with a body that the contract reads and is no JSON`
    return { kind: 'unknown', why, ...about }
  }
  const { fence, conditional } = contract.ordering ?? {}
  if (status === fence?.rejectedWith) {
    return { kind: 'fenced', why: `answered ${status}: a newer version is already there`, ...about }
  }
  if (status === conditional?.rejectedWith) {
    return { kind: 'fenced', why: `answered ${status}: its precondition no longer holds`, ...about }
  }
  if (status >= 200 && status < 300)
    return { kind: 'confirmed', why: `answered ${status}${replayed}`, ...about }
  if (credentialStatuses.includes(status)) {
    const why = `answered ${status}: not let in, so it did not act`
    return { kind: 'notActed', why, alert: 'credentials-refused', ...about }
  }
  if (status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status)) {
    return { kind: 'refused', why: `answered ${status}${replayed}`, ...about }
  }
  return { kind: 'unknown', why: `answered ${status}, which proves nothing by this contract`, ...about }
}

/** Reads a lookup's exchange by the contract. Pure. */
export function classifyLookup(contract: Contract, exchange: Exchange): LookupFinding {
  const read = reading(contract, exchange, contract.lookup?.answers, 'the lookup')
  if (read.kind !== 'default') return read
  const { status, about } = read
  if (status >= 200 && status < 300) return { kind: 'acted', ...about }
  return { kind: status === 404 ? 'absent' : 'nothing', ...about }
}

/** Reads what a recipient said to a tombstone, by the contract. Pure. */
export function classifyTombstone(contract: Contract, exchange: Exchange): TombstoneFinding {
  const read = reading(contract, exchange, contract.ordering?.tombstone?.answers, 'the tombstone')
  if (read.kind !== 'default') return read
  const { status, about } = read
  return { kind: status >= 200 && status < 300 ? 'closed' : 'nothing', ...about }
}

/** What lookups and tombstones have in common: rules first, and a body that cannot be read proves nothing. */
function reading<Means extends string>(
  contract: Contract,
  exchange: Exchange,
  rules: readonly (AnswerPattern & { readonly means: Means })[] = [],
  what: string,
) {
  if (exchange.kind !== 'answered') return { kind: 'nothing' as const, why: exchange.why }
  const { status } = exchange
  const about = { status, ...optional('correlation', correlationOf(contract, exchange)) }
  const rule = ruleFor(rules, exchange)
  if (rule !== undefined)
    return { kind: rule.means, why: `the contract reads ${status} of ${what} so`, ...about }
  if (dependsOnBody(rules, exchange)) {
    return {
      kind: 'nothing' as const,
      why: `${what} was answered ${status} with a body that is no JSON`,
      ...about,
    }
  }
  return { kind: 'default' as const, status, about: { why: `${what} was answered ${status}`, ...about } }
}

function correlationOf(contract: Contract, answer: Answered): string | undefined {
  const found = contract.correlation === undefined ? undefined : readMember(answer, contract.correlation)
  return typeof found === 'string' || typeof found === 'number' ? String(found).slice(0, 200) : undefined
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { [N in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [N in Name]?: Value }
}
