import type { StandardSchemaV1 } from '@standard-schema/spec'
import { CounterfoilError, fitSchema, type JsonValue } from '../../domain/index.ts'
import type { EventType } from '../../intake/index.ts'

/**
 * What the simulator sends, by the type of event, or by producer and type with a space between them. A list is sent in its order and
 * holds the data as the producer sends it; a function is called with 0, 1, 2, … for as many events as are wanted.
 */
export type Examples = Readonly<Record<string, readonly unknown[] | ((n: number) => unknown)>>

/** Events of one type that are about `n`, in their order: first all of the first thing, then all of the next. */
export interface ExampleEvent {
  readonly data: JsonValue
  /** Events of one thing, such as one order, follow each other; null where examples were given and nobody knows. */
  readonly entity: number | null
}

/** Things that derived events are about, and events of each. */
const entities = 2
const eventsOfEach = 3
const mostExamples = 50

/**
 * The events of one type: given ones, or derived from its schema, where the library of the schema can tell it as a JSON Schema (zod,
 * arktype, valibot with its converter).
 *
 * @throws CounterfoilError `examples_needed`
 */
export async function examplesOf(type: EventType, given: Examples): Promise<readonly ExampleEvent[]> {
  const own = given[`${type.producer.name} ${type.type}`] ?? given[type.type]
  if (own !== undefined) {
    const list = typeof own === 'function' ? Array.from({ length: 6 }, (_, n) => own(n)) : own
    return list.slice(0, mostExamples).map((data) => ({ data: data as JsonValue, entity: null }))
  }
  const schema = jsonSchemaOf(type.schema)
  if (schema === null) {
    const why =
      type.schema === undefined ? 'it has no schema' : 'its schema does not tell itself as a JSON Schema'
    throw needed(type, `${why}, so nothing can be derived`)
  }
  const events: ExampleEvent[] = []
  for (let entity = 0; entity < entities; entity++) {
    for (let nth = 0; nth < eventsOfEach; nth++) {
      const data = derive(schema, { entity, nth, name: '', root: schema }) as JsonValue
      const fitted = await fitSchema(type.schema as StandardSchemaV1, data)
      if (!fitted.ok) {
        const [fault] = fitted.faults
        throw needed(type, `what was derived does not fit at '${fault?.path || '/'}': ${fault?.message}`)
      }
      events.push({ data, entity })
    }
  }
  return events
}

function needed({ producer, type }: EventType, why: string): CounterfoilError {
  return new CounterfoilError(
    'examples_needed',
    `The simulator has no event of '${type}' from '${producer.name}': ${why}.`,
    {
      hint: `Give some: a file with \`export default { '${type}': [{ … }, { … }] }\`, named with --examples FILE.`,
    },
  )
}

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, JsonSchema>>
  readonly format?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly multipleOf?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
}

/** Standard JSON Schema (standardschema.dev): a schema tells itself. */
function jsonSchemaOf(schema: EventType['schema']): JsonSchema | null {
  const told = (schema?.['~standard'] as { jsonSchema?: { input?: (about: object) => unknown } } | undefined)
    ?.jsonSchema
  try {
    return (told?.input?.({ target: 'draft-2020-12' }) as JsonSchema | undefined) ?? null
  } catch {
    return null
  }
}

interface Place {
  readonly entity: number
  readonly nth: number
  readonly name: string
  readonly root: JsonSchema
}

/**
 * Texts and ids belong to the thing that the event is about and stay the same; numbers, flags and choices change from one event of it
 * to the next, and what is named like a version rises.
 */
function derive(schema: JsonSchema, place: Place): unknown {
  if (schema.$ref !== undefined) {
    const named = place.root.$defs?.[schema.$ref.slice('#/$defs/'.length)]
    return named === undefined ? null : derive(named, place)
  }
  if ('const' in schema) return schema.const
  if (schema.enum !== undefined) return schema.enum[place.nth % schema.enum.length]
  const [first] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []
  if (first !== undefined) return derive(first, place)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, member]) => [
          name,
          derive(member, { ...place, name }),
        ]),
      )
    case 'array': {
      const items = schema.items ?? {}
      return Array.from({ length: Math.max(1, schema.minItems ?? 1) }, () => derive(items, place))
    }
    case 'integer':
    case 'number':
      return numberOf(schema, place)
    case 'boolean':
      return place.nth % 2 === 0
    case 'null':
      return null
    default:
      return textOf(schema, place)
  }
}

function numberOf(schema: JsonSchema, { entity, nth, name }: Place): number {
  const least = schema.minimum ?? (schema.exclusiveMinimum === undefined ? 1 : schema.exclusiveMinimum + 1)
  const start = Math.max(least, 1)
  const step = schema.multipleOf ?? 1
  const wanted = /(^|_|[a-z])id$/i.test(name) ? start + entity * step : start + (nth + 1) * step
  return Math.min(wanted, schema.maximum ?? wanted)
}

function textOf(
  { format, minLength = 0, maxLength = 200 }: JsonSchema,
  { entity, nth, name }: Place,
): string {
  const day = String(1 + nth).padStart(2, '0')
  switch (format) {
    case 'date-time':
      return `2026-01-${day}T00:00:00Z`
    case 'date':
      return `2026-01-${day}`
    case 'email':
      return `someone${entity}@example.com`
    case 'uri':
    case 'url':
      return `https://example.com/${entity}`
    case 'uuid':
      return `00000000-0000-4000-8000-00000000000${entity}`
    default:
      return `${name || 'text'}-${entity}`.padEnd(minLength, '-').slice(0, maxLength)
  }
}
