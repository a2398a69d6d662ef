import { type JsonValue, readJson } from '../../domain/index.ts'
import { memberOf } from '../members.ts'
import { strictBase64 } from '../signature.ts'

/**
 * One event in the JSON event format (CloudEvents 1.0.2), in one spelling: attributes are their canonical texts,
 * unset ones are left out, and data that is JSON is there as JSON. So an event is the same whichever mode it came in.
 */
export interface CloudEvent {
  readonly specversion: '1.0'
  readonly id: string
  readonly source: string
  readonly type: string
  readonly time?: string
  readonly datacontenttype?: string
  readonly dataschema?: string
  readonly subject?: string
  readonly data?: JsonValue
  /** In place of `data`: what is neither JSON nor text. */
  readonly data_base64?: string
  /** Extension attributes. */
  readonly [name: string]: JsonValue
}

export type CloudEventReading =
  | { readonly kind: 'event'; readonly event: CloudEvent }
  /** Nothing of the event is quoted. */
  | { readonly kind: 'wrong'; readonly why: string }

/**
 * Holds an object to the specification and to one spelling.
 *
 * @param value of the JSON event format, from a body or put together from headers
 */
export function readCloudEvent(value: JsonValue): CloudEventReading {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return wrong('the event is no JSON object')
  }
  const attributes = new Map<string, string>()
  for (const [name, given] of Object.entries(value)) {
    if (name === 'data' || name === 'data_base64' || given === null) continue
    if (!/^[a-z0-9]+$/.test(name)) return wrong('an attribute name is not made of a-z and 0-9')
    const text = attributeText(given)
    const rule = rules.get(name)
    if (text === undefined || (rule !== undefined && !(typeof given === 'string' && rule.test(text)))) {
      return wrong(`the attribute ${shown(name)} is not as the specification wants it`)
    }
    attributes.set(name, text)
  }
  const missing = required.find((name) => !attributes.has(name))
  if (missing !== undefined) return wrong(`the attribute ${missing} is missing`)
  const base64 = memberOf(value, 'data_base64') ?? null
  // "exactly equivalent" (core, datacontenttype).
  if (base64 === null && !attributes.has('datacontenttype'))
    attributes.set('datacontenttype', 'application/json')
  const data = dataOf(memberOf(value, 'data'), base64, attributes.get('datacontenttype'))
  if (typeof data === 'string') return wrong(data)
  return { kind: 'event', event: { ...Object.fromEntries(attributes), ...data } as CloudEvent }
}

function wrong(why: string): CloudEventReading {
  return { kind: 'wrong', why }
}

const required = ['specversion', 'id', 'source', 'type']

/** Core attributes, and the documented extensions that order events: each a text that fits. */
const rules: ReadonlyMap<string, RegExp> = new Map([
  ['specversion', /^1\.0$/],
  ['id', /./su],
  ['type', /./su],
  // RFC 3986: the characters of a reference, and whole escapes.
  ['source', /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/],
  ['dataschema', /^[A-Za-z][A-Za-z0-9+.-]*:(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/],
  ['subject', /./su],
  // RFC 3339.
  ['time', /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/],
  // RFC 2045: type, subtype, and parameters that are not looked at.
  ['datacontenttype', /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+ *(?:;.*)?$/],
  ['sequence', /./su],
  ['partitionkey', /./su],
])

/** The canonical text of a Boolean, Integer or String, or undefined. */
function attributeText(value: JsonValue): string | undefined {
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number')
    return Number.isInteger(value) && value === (value | 0) ? String(value) : undefined
  return typeof value === 'string' && isAttributeText(value) ? value : undefined
}

/** No control character, no half of a surrogate pair, no noncharacter. */
function isAttributeText(text: string): boolean {
  return text.isWellFormed() && !/[\p{Cc}\p{Noncharacter_Code_Point}]/u.test(text)
}

/** The members that hold the data, or what is wrong with them. */
function dataOf(
  data: JsonValue | undefined,
  base64: JsonValue,
  contentType: string | undefined,
): { readonly data?: JsonValue; readonly data_base64?: string } | string {
  if (base64 === null) return data === undefined ? {} : { data }
  if (data !== undefined) return 'the event has both data and data_base64'
  const bytes = typeof base64 === 'string' ? strictBase64(base64) : undefined
  if (bytes === undefined) return 'data_base64 is not base64'
  const kept = { data_base64: base64 as string }
  // Without a content type nothing may be assumed of bytes.
  if (contentType === undefined || !isJson(contentType)) return kept
  const reading = readJson(bytes, { numbers: 'double' })
  return reading.kind === 'read' ? { data: reading.value } : kept
}

/** JSON event format section 3.1: `*` + `/json` and `+json`, whatever the parameters. */
export function isJson(contentType: string): boolean {
  const [mediaType = ''] = contentType.split(';')
  return /\/(?:.+\+)?json$/i.test(mediaType.trim())
}

/** A name in a message: it is the sender's choice. */
function shown(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}…` : name
}
