import {
  type Clock,
  type ErrorCode,
  type Fingerprint,
  fingerprintBytes,
  fingerprintJson,
  type Instant,
  readJson,
} from '../domain/index.ts'
import type { Arrival } from '../intake/index.ts'
import { maxKeyLength, parseKey, scopedId } from './key.ts'
import type { Refusal } from './refusal.ts'
import type { FencePlace } from './store.ts'
import { parseTime } from './time.ts'

/** A request that was read, and may be decided. */
export interface Call {
  /** Who sent it, as `options.caller` says. */
  readonly caller: string
  /** Null where no key came and none is required. */
  readonly key: string | null
  /** The key in its caller's scope. */
  readonly id: Uint8Array | null
  readonly fingerprint: Fingerprint
  readonly plannedAt: Instant | null
  readonly begunAt: Instant | null
  readonly place: FencePlace | null
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** The body as it came. */
  readonly body: Uint8Array
}

/** Header names, lower case. */
export interface HeaderNames {
  readonly key: string
  readonly plannedAt: string
  readonly begunAt: string
  readonly fenceDomain: string
  readonly fenceVersion: string
  readonly replayed: string
}

export interface CallRules {
  readonly headers: HeaderNames
  readonly keyRequired: boolean
  readonly fenceRequired: boolean
  readonly needsPlannedAt: boolean
  readonly needsBegunAt: boolean
  readonly maxBodyBytes: number
  readonly bodyTimeoutMs: number
}

export type Reading =
  | { readonly kind: 'read'; readonly call: Call }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** Longest name of a caller, and of an ordering domain, in UTF-16 units. */
export const maxNameLength = 512

const highestVersion = 2n ** 63n - 1n

/** Reads what the guard decides on. The body comes last: a request that is refused for its headers is not read. */
export async function readCall(
  arrival: Arrival,
  caller: string,
  rules: CallRules,
  clock: Clock,
): Promise<Reading> {
  const { headers } = rules
  const field = arrival.header(headers.key)
  if (field === null && rules.keyRequired)
    return refuse(
      'guard_key_missing',
      `Send the header ${headers.key}, the same for every try of one operation.`,
    )
  const key = field === null ? null : parseKey(field)
  if (key === undefined)
    return refuse(
      'guard_key_invalid',
      `A key is 1 to ${maxKeyLength} visible ASCII characters, alone in its header.`,
    )

  const times: (Instant | null)[] = []
  for (const [name, needed] of [
    [headers.plannedAt, rules.needsPlannedAt && key !== null],
    [headers.begunAt, rules.needsBegunAt && key !== null],
  ] as const) {
    const text = needed ? arrival.header(name) : null
    const at = text === null ? (needed ? undefined : null) : parseTime(text)
    if (at === undefined)
      return refuse('guard_time_invalid', `Send the header ${name} as 2026-01-31T12:00:00.000Z.`)
    times.push(at)
  }
  const [plannedAt = null, begunAt = null] = times

  const place = readPlace(arrival, caller, rules)
  if (place === undefined)
    return refuse(
      'guard_fence_invalid',
      `Send ${headers.fenceDomain} (1 to ${maxNameLength} characters) and ${headers.fenceVersion} (0 to ${highestVersion}) together.`,
    )

  const limits = { maxBytes: rules.maxBodyBytes, maxReadMs: rules.bodyTimeoutMs }
  const reading = await arrival.readBody(limits, clock)
  if (reading.kind === 'refused') return refuse(reading.code, `${reading.why}.`)
  const { method } = arrival
  const path = pathOf(arrival.url)
  const { body } = reading
  const fingerprint = fingerprintOf(method, path, arrival.header('content-type'), body)
  const id = key === null ? null : scopedId('key', caller, key)
  return {
    kind: 'read',
    call: { caller, key, id, fingerprint, plannedAt, begunAt, place, method, path, body },
  }
}

/** Path and query, from a whole URL or a path. */
export function pathOf(url: string): string {
  if (url.startsWith('/')) return url
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** @returns undefined when the headers are no place; null when there are none and none is needed */
function readPlace(arrival: Arrival, caller: string, rules: CallRules): FencePlace | null | undefined {
  const domain = arrival.header(rules.headers.fenceDomain)
  const version = arrival.header(rules.headers.fenceVersion)
  if (domain === null && version === null) return rules.fenceRequired ? undefined : null
  if (domain === null || version === null || !/^\d{1,19}$/.test(version)) return undefined
  if (!isName(domain) || BigInt(version) > highestVersion) return undefined
  return { id: scopedId('domain', caller, domain), domain, version: BigInt(version) }
}

/** A caller or an ordering domain. */
export function isName(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    text.length > 0 &&
    text.length <= maxNameLength &&
    text.isWellFormed() &&
    !/\p{Cc}/u.test(text)
  )
}

/** JSON by its canonical form (RFC 8785), so that a client that writes it anew repeats the same request. */
function fingerprintOf(method: string, path: string, type: string | null, body: Uint8Array): Fingerprint {
  return fingerprintJson([method, path, contentOf(type, body)])
}

function contentOf(type: string | null, body: Uint8Array): Fingerprint {
  if (type !== null && /^[^;]*[/+]json\s*(;|$)/i.test(type)) {
    const reading = readJson(body, { numbers: 'double' })
    if (reading.kind === 'read') return fingerprintJson(reading.value)
  }
  return fingerprintBytes(body)
}

function refuse(code: ErrorCode, detail: string): Reading {
  return { kind: 'refused', refusal: { code, detail } }
}
