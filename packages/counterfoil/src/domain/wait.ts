import { type Answered, matches, readMember } from './answer-pattern.ts'
import type { AnswerPattern, Contract, WaitRule } from './contract.ts'

/** Longest wait that a recipient may ask for: one hour. A longer one would hide work from its owner. */
export const maxRetryAfterMs = 3_600_000

/** How long an answer asks to be left alone, bounded; undefined when it asks nothing. The longest wish counts. */
export function waitMs(contract: Contract, answer: Answered, now: number): number | undefined {
  const asked = [
    retryAfterMs(answer.headers['retry-after'], now),
    rateLimitMs(answer),
    ...(contract.waits ?? []).map((rule) => ruleMs(rule, answer, now)),
  ].filter((ms) => ms !== undefined)
  return asked.length === 0 ? undefined : Math.max(...asked)
}

/**
 * `Retry-After` in both forms of RFC 9110 section 10.2.3, bounded to `maxRetryAfterMs`; undefined when absent,
 * malformed or in the past.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  return bounded(/^\d+$/.test(text) ? Number(text) * 1000 : parseHttpDate(text) - now)
}

/**
 * `RateLimit` (draft-ietf-httpapi-ratelimit-headers: `"default";r=0;t=30`), or the `RateLimit-Remaining` and
 * `RateLimit-Reset` of its earlier drafts, where they say that nothing is left. Only on 429 and 503: on other
 * answers they describe what is left and ask for nothing.
 */
function rateLimitMs({ status, headers }: Answered): number | undefined {
  if (!asksByStatus.includes(status)) return undefined
  const resets = (headers.ratelimit ?? '').split(',').flatMap((policy) => {
    const left = /;\s*r=(\d+)/.exec(policy)?.[1]
    const seconds = /;\s*t=(\d+)/.exec(policy)?.[1]
    return left === '0' && seconds !== undefined ? [Number(seconds)] : []
  })
  if (headers['ratelimit-remaining']?.trim() === '0') resets.push(numberOf(headers['ratelimit-reset']))
  return bounded(Math.max(...resets.filter((seconds) => !Number.isNaN(seconds))) * 1000)
}

const asksByStatus = [429, 503]

function ruleMs(rule: WaitRule, answer: Answered, now: number): number | undefined {
  const asks: (pattern: AnswerPattern | undefined) => boolean = (pattern) =>
    pattern === undefined ? asksByStatus.includes(answer.status) : matches(pattern, answer)
  if (!asks(rule.when)) return undefined
  const value = numberOf(readMember(answer, rule))
  if (rule.as === 'milliseconds') return bounded(value)
  return bounded(rule.as === 'seconds' ? value * 1000 : value * 1000 - now)
}

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : Number.NaN
}

function bounded(ms: number): number | undefined {
  return ms >= 0 ? Math.min(Math.ceil(ms), maxRetryAfterMs) : undefined
}

/**
 * The three forms of an HTTP date (RFC 9110 section 5.6.7), in milliseconds since the epoch, or NaN. Date.parse
 * alone would find a year in any text, and takes the third form, which is in GMT, for local time.
 */
function parseHttpDate(text: string): number {
  const fixed = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
  const rfc850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/
  const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/
  if (fixed.test(text) || rfc850.test(text)) return Date.parse(text)
  return asctime.test(text) ? Date.parse(`${text} GMT`) : Number.NaN
}
