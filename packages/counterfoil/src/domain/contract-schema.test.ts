import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Contract, Idempotency, Lookup, Ordering } from './contract.ts'
import { checkContract } from './contract-check.ts'

const schema = JSON.parse(readFileSync(join(import.meta.dirname, '../../contract.schema.json'), 'utf8'))
const validate = new Ajv2020({
  strict: true,
  allErrors: true,
  strictRequired: false,
  strictTypes: false,
}).compile(schema)

const key = {
  header: 'Idempotency-Key',
  remembersFor: '24h',
  otherPayload: 'refused',
  replays: 'first-success',
} as const
const busy = {
  status: 409,
  header: { name: 'X-Busy', equals: '1' },
  body: { pointer: '/code', equals: 'busy' },
} as const

/** Together these use every member that the types have; `Every` fails to compile when one is added and not used. */
const contracts = {
  empty: {},
  whole: {
    idempotency: {
      ...key,
      format: { form: 'text', maxLength: 40, prefix: 'p-', alphabet: 'base32' },
      scope: 'endpoint',
      inFlight: busy,
      marker: { header: 'Idempotent-Replayed', equals: 'true' },
    },
    lookup: {
      by: 'key',
      path: '/operations/{key}',
      after: '2s',
      absence: { final: true, after: '30s' },
      findsFor: 'forever',
      answers: [{ status: 404, means: 'absent' }],
    },
    ordering: {
      fence: { header: 'Fence-Version', domain: 'Fence-Domain', rejectedWith: 412 },
      conditional: { header: 'If-Match', rejectedWith: 412 },
      tombstone: {
        method: 'PUT',
        path: '/tombstones/{key}',
        findsFor: '30d',
        answers: [{ status: 409, means: 'acted' }],
      },
    },
    outcomes: [{ status: '5xx', body: { pointer: '/safe', equals: true }, means: 'not-acted' }],
    correlation: { pointer: '/id' },
    waits: [{ header: 'X-Reset', as: 'epoch-seconds', when: { status: 403 } }],
    times: { plannedAt: 'Effect-Planned-At', begunAt: 'Attempt-Begun-At' },
    traceparent: false,
  },
  'key in the body': {
    idempotency: {
      pointer: '/idempotency_key',
      remembersFor: 'unstated',
      otherPayload: 'unstated',
      replays: 'unstated',
      inFlight: 'waits',
      marker: { pointer: '/duplicate', equals: true },
      format: { form: 'uuid' },
    },
    lookup: { by: 'function', absence: { final: false } },
    ordering: { conditional: { pointer: '/version', rejectedWith: 409 } },
    correlation: { header: 'Request-Id' },
    waits: [{ pointer: '/retry_after', as: 'seconds' }],
  },
  'key in the query': {
    idempotency: {
      query: 'requestId',
      remembersFor: 'forever',
      otherPayload: 'first-answer',
      replays: 'first-answer',
    },
    lookup: { by: 'correlation', path: '/jobs/{correlation}', absence: { final: false } },
    outcomes: [{ status: 202, means: 'accepted' }],
    correlation: { pointer: '/job/id' },
  },
  'in turn': { ordering: { inTurn: true } },
} as const satisfies Record<string, Contract>

type KeysOf<T> = T extends unknown ? keyof T : never
const every = {
  contract: {
    idempotency: 1,
    lookup: 1,
    ordering: 1,
    outcomes: 1,
    correlation: 1,
    waits: 1,
    times: 1,
    traceparent: 1,
  } satisfies Record<keyof Contract, 1>,
  idempotency: {
    ...{
      header: 1,
      pointer: 1,
      query: 1,
      format: 1,
      scope: 1,
      remembersFor: 1,
      otherPayload: 1,
      inFlight: 1,
    },
    ...{ replays: 1, marker: 1 },
  } as const satisfies Record<KeysOf<Idempotency>, 1>,
  lookup: { by: 1, path: 1, after: 1, absence: 1, findsFor: 1, answers: 1 } satisfies Record<
    KeysOf<Lookup>,
    1
  >,
  ordering: { fence: 1, conditional: 1, tombstone: 1, inTurn: 1 } satisfies Record<keyof Ordering, 1>,
}

describe('the published schema', () => {
  for (const [name, contract] of Object.entries(contracts)) {
    test(`takes the contract '${name}', which the types and the check take too`, () => {
      assert.ok(validate(contract), JSON.stringify(validate.errors))
      checkContract('r', contract)
    })
  }

  test('has the members that the types have, and no others', () => {
    assert.deepEqual(Object.keys(schema.properties).sort(), Object.keys(every.contract).sort())
    for (const part of ['idempotency', 'lookup', 'ordering'] as const)
      assert.deepEqual(Object.keys(schema.$defs[part].properties).sort(), Object.keys(every[part]).sort())
  })

  test('refuses a member that is misspelt, wherever it stands', () => {
    const objects = [...walk(contracts.whole)].filter(({ value }) => !Array.isArray(value))
    assert.ok(objects.length > 12)
    for (const { path } of objects) {
      const copy = structuredClone(contracts.whole) as unknown
      at(copy, path).misspelt = 1
      assert.equal(validate(copy), false, path.join('/'))
    }
  })

  test('refuses a value of another type, wherever it stands', () => {
    const leaves = [...walk(contracts.whole)].flatMap(({ path, value }) =>
      Object.entries(value as object)
        .filter(([, member]) => typeof member !== 'object')
        .map(([name]) => [path, name] as const),
    )
    assert.ok(leaves.length > 25)
    for (const [path, name] of leaves) {
      const copy = structuredClone(contracts.whole) as unknown
      at(copy, path)[name] = { not: 'this' }
      assert.equal(validate(copy), false, [...path, name].join('/'))
    }
  })
})

interface Found {
  readonly path: readonly string[]
  readonly value: unknown
}

function* walk(value: unknown, path: readonly string[] = []): Generator<Found> {
  if (typeof value !== 'object' || value === null) return
  yield { path, value }
  for (const [name, member] of Object.entries(value)) yield* walk(member, [...path, name])
}

function at(root: unknown, path: readonly string[]): Record<string, unknown> {
  return path.reduce((value, name) => (value as Record<string, unknown>)[name], root) as Record<
    string,
    unknown
  >
}
