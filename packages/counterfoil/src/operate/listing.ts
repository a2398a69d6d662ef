import { CounterfoilError, type EffectState, type Instant } from '../domain/index.ts'
import type { EffectView, Store } from '../store/index.ts'

/** One act as the recipient lists it. Further members are shown as they are and not compared. */
export interface ListedAct {
  readonly line: number
  /** The idempotency key or effect key that it was asked under. */
  readonly key: string | null
  /** The recipient's own id of it. */
  readonly correlation: string | null
  readonly members: Readonly<Record<string, unknown>>
}

/** What an effect of the ledger and a listing say of each other. */
export interface Comparison {
  readonly listed: number
  readonly effects: number
  readonly agreeing: number
  /** Acts at the recipient that no effect of the ledger asked for. */
  readonly bypassed: readonly ListedAct[]
  /** Effects that the ledger calls confirmed and the listing does not hold. */
  readonly missing: readonly EffectName[]
  /** Effects that the ledger does not call confirmed and the listing holds: evidence that they acted. */
  readonly acted: readonly (EffectName & { readonly line: number })[]
  /** Effects that the listing holds more than once. */
  readonly repeated: readonly (EffectName & { readonly lines: readonly number[] })[]
}

export interface EffectName {
  readonly id: string
  readonly key: string
  readonly state: EffectState
}

/**
 * Reads a listing: a JSON object a line, each with a `key`, a `correlation` or both; empty lines are passed over.
 *
 * @throws CounterfoilError `usage_invalid` with the number of the line
 */
export function parseListing(text: string): ListedAct[] {
  return text.split('\n').flatMap((raw, index) => {
    if (raw.trim() === '') return []
    const refuse = (why: string): never => {
      throw new CounterfoilError('usage_invalid', `Line ${index + 1} of the listing ${why}.`, {
        hint: 'Write one JSON object a line, such as {"key":"cf_…","correlation":"ch_1","amount":1200}.',
      })
    }
    const value = parsed(raw) ?? refuse('is no JSON object')
    const { key = null, correlation = null, ...members } = value
    const name = (member: unknown) =>
      member === null || typeof member === 'string'
        ? member
        : refuse('has a key or correlation that is no text')
    if (key === null && correlation === null) refuse('has neither a key nor a correlation')
    return [{ line: index + 1, key: name(key), correlation: name(correlation), members }]
  })
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Holds a listing against the ledger. Pure: it changes nothing, and what follows is for a person to decide. */
export function compareListing(listing: readonly ListedAct[], effects: readonly EffectView[]): Comparison {
  const byName = new Map<string, EffectView>()
  for (const effect of effects) {
    byName.set(effect.key, effect)
    byName.set(effect.idempotencyKey, effect)
    for (const { correlation } of [...effect.attempts, ...effect.evidence])
      if (correlation !== null) byName.set(correlation, effect)
  }
  const lines = new Map<EffectView, number[]>()
  const bypassed: ListedAct[] = []
  for (const act of listing) {
    const effect = [act.key, act.correlation].map((name) => (name === null ? undefined : byName.get(name)))
    const found = effect.find((one) => one !== undefined)
    if (found === undefined) bypassed.push(act)
    else lines.set(found, [...(lines.get(found) ?? []), act.line])
  }
  const found = [...lines]
  const named = ({ id, key, state }: EffectView): EffectName => ({ id, key, state })
  return {
    listed: listing.length,
    effects: effects.length,
    agreeing: found.filter(([{ state }, at]) => state === 'confirmed' && at.length === 1).length,
    bypassed,
    missing: effects.filter((effect) => effect.state === 'confirmed' && !lines.has(effect)).map(named),
    acted: found
      .filter(([{ state }]) => state !== 'confirmed')
      .map(([effect, at]) => ({ ...named(effect), line: at[0]! })),
    repeated: found
      .filter(([, at]) => at.length > 1)
      .map(([effect, at]) => ({ ...named(effect), lines: at })),
  }
}

/** Every effect of a recipient planned at or after `since`. */
export async function effectsSince(store: Store, recipient: string, since: Instant): Promise<EffectView[]> {
  const all: EffectView[] = []
  for (let before: string | undefined; ; ) {
    const page = await store.listEffects({
      recipient,
      limit: 1_000,
      ...(before === undefined ? {} : { before }),
    })
    all.push(...page.filter(({ plannedAt }) => plannedAt >= since))
    const last = page.at(-1)
    // Newest first: once a whole page is older, so is the rest.
    if (last === undefined || page.every(({ plannedAt }) => plannedAt < since)) return all
    before = last.id
  }
}
