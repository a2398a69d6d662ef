import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import * as v from 'valibot'
import { z } from 'zod'
import type { JsonValue } from '../domain/index.ts'
import { jsonSchema } from '../intake/json-schema.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { fitSchema, schemaTimeoutMs } from './schema.ts'

const custom = (validate: StandardSchemaV1.Props['validate']): StandardSchemaV1<unknown, unknown> => ({
  '~standard': { version: 1, vendor: 'test', validate },
})
const faultsOf = async (schema: StandardSchemaV1<unknown, unknown>, value: JsonValue) => {
  const fitted = await fitSchema(schema, value, new VirtualClock())
  assert.ok(!fitted.ok)
  return fitted.faults
}

describe('a schema of any library', () => {
  const libraries: Record<string, StandardSchemaV1<unknown, unknown>> = {
    zod: z.object({ id: z.string(), 'a/b~c': z.array(z.number()) }),
    'zod, asynchronous': z.object({ id: z.string().refine(async () => true), 'a/b~c': z.array(z.number()) }),
    valibot: v.object({ id: v.string(), 'a/b~c': v.array(v.number()) }),
    'valibot, asynchronous': v.objectAsync({ id: v.string(), 'a/b~c': v.array(v.number()) }),
    'JSON Schema 2020-12': jsonSchema({
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string' }, 'a/b~c': { type: 'array', prefixItems: [{ type: 'number' }] } },
    }),
    'JSON Schema draft-07': jsonSchema({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string' }, 'a/b~c': { type: 'array', items: [{ type: 'number' }] } },
    }),
  }
  for (const [name, schema] of Object.entries(libraries)) {
    test(`${name}: fits, or says where and why as JSON Pointers`, async () => {
      assert.deepEqual(await fitSchema(schema, { id: 'x', 'a/b~c': [1] }), {
        ok: true,
        value: { id: 'x', 'a/b~c': [1] },
      })
      const faults = await faultsOf(schema, { id: 'x', 'a/b~c': ['no'] })
      assert.deepEqual(
        faults.map(({ path }) => path),
        ['/a~1b~0c/0'],
      )
      assert.ok(faults[0]!.message.length > 0)
    })
  }

  test('what the schema makes of the value is what fits', async () => {
    const schema = z.object({ plan: z.string().default('pro') })
    assert.deepEqual(await fitSchema(schema, { other: 1 }), { ok: true, value: { plan: 'pro' } })
  })
})

describe('faults hold no payload', () => {
  const value = 'sk_live_abcdef'
  const quoting: Record<string, StandardSchemaV1<unknown, unknown>> = {
    'valibot type': v.object({ secret: v.number() }),
    'valibot format': v.object({ secret: v.pipe(v.string(), v.email()) }),
    'valibot literal': v.object({ secret: v.literal('x') }),
    'zod type': z.object({ secret: z.number() }),
    'zod enum': z.object({ secret: z.enum(['a', 'b']) }),
    'zod refinement': z.object({
      secret: z.string().refine(() => false, { error: ({ input }) => `no: ${input}!` }),
    }),
    'JSON Schema': jsonSchema({ properties: { secret: { enum: ['a'] } } }),
  }
  for (const [name, schema] of Object.entries(quoting)) {
    test(name, async () => {
      const text = JSON.stringify(await faultsOf(schema, { secret: value }))
      assert.ok(!text.includes(value), text)
      assert.ok(text.includes('/secret'))
    })
  }

  test('nor a number, a short text, or one with quotes in it', async () => {
    const echo = custom((given) => ({
      issues: [{ path: ['x'], message: `got ${JSON.stringify((given as { x: unknown }).x)} there` }],
    }))
    for (const x of [4111, -1.5, 'a', 'ab', 'say "no"', '$&$1']) {
      assert.equal((await faultsOf(echo, { x }))[0]!.message, 'got … there', String(x))
    }
  })
})

describe('limits', () => {
  test('faults, paths and messages are bounded, and hold no control characters', async () => {
    const schema = custom(() => ({
      issues: Array.from({ length: 1_000 }, () => ({
        path: ['\u0000'.repeat(10_000)],
        message: '\u0007'.repeat(10_000),
      })),
    }))
    const faults = await faultsOf(schema, {})
    assert.equal(faults.length, 20)
    assert.ok(faults[0]!.path.length <= 500 && faults[0]!.message.length <= 200)
    assert.doesNotMatch(JSON.stringify(faults), /\\u00/)
  })

  test('a schema that throws or rejects is a misfit, told without the text of its error', async () => {
    const fail = () => {
      throw new RangeError('the payload was sk_live_abc')
    }
    const rejecting = custom(async () => fail())
    for (const schema of [custom(fail), rejecting]) {
      assert.deepEqual(await faultsOf(schema, {}), [
        { path: '', message: 'the schema itself threw (RangeError)' },
      ])
    }
  })

  test('a schema that does not answer in time is a misfit', async () => {
    const clock = new VirtualClock()
    const fitted = fitSchema(
      custom(() => new Promise(() => {})),
      {},
      clock,
    )
    await new Promise((resolve) => setTimeout(resolve, 1))
    assert.equal(clock.step(clock.now() + schemaTimeoutMs), true)
    assert.deepEqual(await fitted, {
      ok: false,
      faults: [{ path: '', message: 'the schema did not answer within 5000 ms' }],
    })
  })

  test('one that answers in time leaves no timer behind', async () => {
    const clock = new VirtualClock()
    await fitSchema(
      custom(async () => ({ value: 1 })),
      {},
      clock,
    )
    assert.equal(clock.step(), false)
  })
})

describe('JSON Schema', () => {
  test('what is no schema, or refers elsewhere, is refused at once', () => {
    for (const schema of [
      { type: 'nothing' },
      { $ref: 'https://example.test/other.json' },
      { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' },
      { $async: true, type: 'object' },
      { pattern: '(' },
    ]) {
      assert.throws(() => jsonSchema(schema), { code: 'config_invalid' }, JSON.stringify(schema))
    }
  })

  test('nothing is coerced and no default is filled in', async () => {
    const schema = jsonSchema({ properties: { n: { type: 'number' }, d: { default: 1 } } })
    assert.equal((await fitSchema(schema, { n: '1' })).ok, false)
    assert.deepEqual(await fitSchema(schema, { n: 1 }), { ok: true, value: { n: 1 } })
  })

  test('a missing member is named; a large misfit stops at its first fault', async () => {
    const schema = jsonSchema({ type: 'array', items: { type: 'object', required: ['id'] } })
    assert.deepEqual(
      await faultsOf(
        schema,
        Array.from({ length: 100_000 }, () => ({})),
      ),
      [{ path: '/0', message: 'must have the member id' }],
    )
  })

  test('two schemas may bear the same $id', () => {
    const schema = { $id: 'https://example.test/a.json', type: 'object' }
    jsonSchema(schema)
    jsonSchema({ ...schema })
  })
})
