import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Clock, type Fitted, fitSchema, type JsonValue } from '../domain/index.ts'

/**
 * One step from a schema version to the next. Steps stand in order, the oldest first: each makes what the next
 * one takes, and the last one makes the version of the event type.
 */
export interface Upcast {
  /** Null: events that name no version. */
  readonly from: string | null
  /** What data of that version is held to before it is changed. Default: nothing. */
  readonly schema?: StandardSchemaV1<unknown, unknown>
  /** Pure: it runs again after a crash, and a receipt keeps what came. Where it throws, the event is quarantined. */
  readonly to: (old: any) => unknown
}

/** What an event type reads. `version` undefined: every one, as it is. */
export interface Versions {
  readonly version: string | undefined
  readonly upcast: readonly Upcast[]
}

/** Where events of this version enter: -1 as they are, else the step that takes them; undefined: not at all. */
export function entryOf({ version, upcast }: Versions, given: string | null): number | undefined {
  if (version === undefined || version === given) return -1
  const step = upcast.findIndex(({ from }) => from === given)
  return step === -1 ? undefined : step
}

/** Whether an event can exist that both read. */
export function mayMeet(one: Versions, other: Versions): boolean {
  if (one.version === undefined || other.version === undefined) return true
  return versionsOf(one).some((version) => versionsOf(other).includes(version))
}

/** All that are read. */
export function versionsOf({ version, upcast }: Versions): readonly (string | null | undefined)[] {
  return [version, ...upcast.map(({ from }) => from)]
}

/** Data of an older version, made to that of the type. Each step's data is held to its schema first. */
export async function upcastData(
  steps: readonly Upcast[],
  data: JsonValue,
  clock: Clock | undefined,
): Promise<Fitted<JsonValue>> {
  let value: unknown = data
  for (const { from, schema, to } of steps) {
    if (schema !== undefined) {
      const fitted = await fitSchema(schema, value as JsonValue, clock)
      if (!fitted.ok) return fitted
      value = fitted.value
    }
    try {
      value = to(value)
    } catch (error) {
      // Its message may hold anything, the payload too.
      const name = error instanceof Error ? error.name.slice(0, 50) : typeof error
      return misfit(`the up-cast from version ${from ?? 'none'} threw (${name})`)
    }
    if (value instanceof Promise) {
      value.catch(() => {})
      return misfit(`the up-cast from version ${from ?? 'none'} gave a promise`)
    }
  }
  return { ok: true, value: value as JsonValue }
}

function misfit(message: string): Fitted<JsonValue> {
  return { ok: false, faults: [{ path: '', message }] }
}
