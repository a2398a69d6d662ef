import type { StandardSchemaV1 } from '@standard-schema/spec'

export interface SchemaFault {
  /** JSON Pointer; empty for the whole value. */
  readonly path: string
  /** The validator's own words, bounded. */
  readonly message: string
}

export type Fitted<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly faults: readonly SchemaFault[] }

/** Faults that are kept of one value, and characters of each message. */
export const maxFaults = 20
const maxMessage = 200

/**
 * Fits a value to a schema of any library that speaks Standard Schema (standardschema.dev, version 1).
 * Rejects only when the schema itself throws.
 */
export async function fitSchema<Value>(
  schema: StandardSchemaV1<unknown, Value>,
  value: unknown,
): Promise<Fitted<Value>> {
  const validated = schema['~standard'].validate(value)
  const result = validated instanceof Promise ? await validated : validated
  if (result.issues === undefined) return { ok: true, value: result.value }
  return {
    ok: false,
    faults: result.issues.slice(0, maxFaults).map(({ path = [], message }) => ({
      path: path
        .map((segment) => `/${escapeToken(typeof segment === 'object' ? segment.key : segment)}`)
        .join(''),
      message: message.slice(0, maxMessage),
    })),
  }
}

function escapeToken(token: PropertyKey): string {
  return String(token).replaceAll('~', '~0').replaceAll('/', '~1')
}
