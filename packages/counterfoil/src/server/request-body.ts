import { CounterfoilError } from '../domain/index.ts'

/** A JSON object, and its members in the types that are asked for. */

type Body = Readonly<Record<string, unknown>>

/** @throws CounterfoilError `content_type_unsupported`, `request_invalid` */
export async function readBody(request: Request): Promise<Body> {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new CounterfoilError('content_type_unsupported', 'Send the body as application/json.')
  }
  let value: unknown
  try {
    value = await request.json()
  } catch {
    throw invalid('The body is no JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('The body is no JSON object.')
  }
  return value as Body
}

export function text(body: Body, name: string): string {
  const value = body[name]
  if (typeof value === 'string') return value
  throw invalid(`'${name}' is missing or is no text.`)
}

export function textOrNull(body: Body, name: string): string | null {
  return body[name] === null ? null : text(body, name)
}

export function number(body: Body, name: string): number {
  const value = body[name]
  if (typeof value === 'number') return value
  throw invalid(`'${name}' is missing or is no number.`)
}

export function choice<const Choice extends string>(
  body: Body,
  name: string,
  choices: readonly Choice[],
): Choice {
  const given = choices.find((one) => one === body[name])
  if (given !== undefined) return given
  throw invalid(`'${name}' is none of: ${choices.join(', ')}.`)
}

/** A member that is an object of texts; empty when it is missing. */
export function texts(body: Body, name: string): Readonly<Record<string, string>> {
  const value = body[name] ?? {}
  const fits =
    typeof value === 'object' &&
    !Array.isArray(value) &&
    Object.values(value as object).every((member) => typeof member === 'string')
  if (fits) return value as Readonly<Record<string, string>>
  throw invalid(`'${name}' is no object of texts.`)
}

/** A member that is an array of texts; empty when it is missing. */
export function names(body: Body, name: string): readonly string[] {
  const value = body[name] ?? []
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value
  throw invalid(`'${name}' is no array of texts.`)
}

function invalid(message: string): CounterfoilError {
  return new CounterfoilError('request_invalid', message)
}
