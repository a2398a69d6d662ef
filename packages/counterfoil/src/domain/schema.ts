import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonValue } from './json.ts'
import type { Clock } from './ports.ts'

export interface SchemaFault {
  /** JSON Pointer; empty for the whole value. */
  readonly path: string
  /** The validator's own words, bounded, without the value that was there. */
  readonly message: string
}

export type Fitted<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly faults: readonly SchemaFault[] }

/** Faults that are kept of one value. */
export const maxFaults = 20
/** How long an asynchronous schema may take. */
export const schemaTimeoutMs = 5_000
/** Characters of a fault that are kept. */
const maxPath = 500
const maxMessage = 200
const hidden = '…'

/**
 * Fits a payload to a schema of any library that speaks Standard Schema (standardschema.dev, version 1). What
 * comes back of a misfit is where and why, and not what was there: validators like to quote the value, and a
 * quarantine entry holds no payload. Only a message that a user wrote himself can still hold some.
 *
 * A schema that throws, rejects or does not answer in time fails for the same payload each time. Answering 503
 * would make its sender try for ever, and dropping it would lose it; so it is a misfit like any other: the
 * receipt waits in quarantine until the schema is right.
 *
 * @param clock for the time limit of an asynchronous schema; without it there is none
 */
export async function fitSchema(
  schema: StandardSchemaV1<unknown, unknown>,
  value: JsonValue,
  clock?: Clock,
): Promise<Fitted<unknown>> {
  let result: StandardSchemaV1.Result<unknown> | 'late'
  try {
    const validated = schema['~standard'].validate(value)
    result = validated instanceof Promise ? await inTime(validated, clock) : validated
  } catch (error) {
    // Its message may hold anything: the payload, or a secret of the program.
    const name = error instanceof Error ? error.name : typeof error
    return misfit(`the schema itself threw (${name.slice(0, 50)})`)
  }
  if (result === 'late') return misfit(`the schema did not answer within ${schemaTimeoutMs} ms`)
  if (result.issues === undefined) return { ok: true, value: result.value }
  return { ok: false, faults: result.issues.slice(0, maxFaults).map((issue) => toFault(issue, value)) }
}

function misfit(message: string): Fitted<unknown> {
  return { ok: false, faults: [{ path: '', message }] }
}

async function inTime<Result>(answer: Promise<Result>, clock: Clock | undefined): Promise<Result | 'late'> {
  if (clock === undefined) return await answer
  let cancel = () => {}
  const late = new Promise<'late'>((resolve) => {
    cancel = clock.after(schemaTimeoutMs, () => resolve('late'))
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    cancel()
  }
}

function toFault({ path = [], message }: StandardSchemaV1.Issue, value: JsonValue): SchemaFault {
  const names = path.map((segment) => (typeof segment === 'object' ? segment.key : segment))
  const pointer = names.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return {
    path: bounded(pointer, maxPath),
    message: bounded(withoutValue(message, valueAt(value, names)), maxMessage),
  }
}

function valueAt(value: unknown, names: readonly PropertyKey[]): unknown {
  let at = value
  for (const name of names) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<PropertyKey, unknown>)[name]
  }
  return at
}

/** Takes the faulty value out of the text: as a whole word, and inside quotes where it is too short to be one. */
function withoutValue(message: string, value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') {
    return message.replaceAll(new RegExp(`(?<![\\w.])${escaped(String(value))}(?![\\w.])`, 'g'), hidden)
  }
  if (typeof value !== 'string' || value === '') return message
  let text = message
  for (const spelling of [JSON.stringify(value), `"${value}"`, `'${value}'`, `\`${value}\``]) {
    text = text.replaceAll(spelling, () => hidden)
  }
  return value.length < 4 ? text : text.replaceAll(value, () => hidden)
}

function escaped(text: string): string {
  return text.replaceAll(/[.+-]/g, '\\$&')
}

/** Names are the sender's choice: control characters are taken out, as some stores and terminals choke on them. */
function bounded(text: string, length: number): string {
  const short = text.length > length ? `${text.slice(0, length - 1)}${hidden}` : text
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return short.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd').toWellFormed()
}
