import type { StandardSchemaV1 } from '@standard-schema/spec'
import { Ajv, type AnySchemaObject, type ErrorObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { CounterfoilError } from '../domain/index.ts'

/**
 * A JSON Schema as a Standard Schema, for triggers whose producer publishes one. Draft 2020-12, or draft-07
 * where `$schema` says so. Checks only: nothing is coerced, no default is filled in, and `format` is a remark,
 * as both drafts have it. Stops at the first fault, so that a large misfit costs no more than a small one.
 * Needs the package `ajv`, version 8.
 *
 * A producer with lossless numbers hands over bigints, which no JSON Schema knows as numbers.
 *
 * @throws CounterfoilError `config_invalid` when the schema is none, or refers to one that is elsewhere
 */
export function jsonSchema<Data = unknown>(schema: AnySchemaObject): StandardSchemaV1<unknown, Data> {
  const validate = compile(schema)
  return {
    '~standard': {
      version: 1,
      vendor: 'counterfoil-json-schema',
      validate(value) {
        return validate(value) ? { value: value as Data } : { issues: (validate.errors ?? []).map(toIssue) }
      },
    },
  }
}

function compile(schema: AnySchemaObject) {
  const options = { strict: false, validateFormats: false, logger: false } as const
  try {
    const ajv = /draft-0?7/.test(String(schema.$schema)) ? new Ajv(options) : new Ajv2020(options)
    const validate = ajv.compile(schema)
    if ('$async' in validate) throw new Error('asynchronous schemas are not supported')
    return validate
  } catch (error) {
    throw new CounterfoilError('config_invalid', `This is no JSON Schema: ${(error as Error).message}`, {
      hint: 'Draft 2020-12 and draft-07 are understood; give one self-contained object.',
      cause: error,
    })
  }
}

function toIssue({ instancePath, message = 'does not fit', params }: ErrorObject): StandardSchemaV1.Issue {
  return {
    message: 'missingProperty' in params ? `must have the member ${params.missingProperty}` : message,
    path: instancePath
      .split('/')
      .slice(1)
      .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')),
  }
}
