import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { gitHubSecret } from './fixtures/senders.ts'
import { eventTypes, producer } from './producer.ts'
import { github } from './producers/index.ts'

const kind = github({ secrets: gitHubSecret })

test('a name is a route: plain words with slashes between them', () => {
  for (const name of ['github', 'stripe/acct_1', 'a/b/c', 'A-b.c~d_1'])
    assert.equal(producer(name, kind).name, name)
  for (const name of [
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    'a/../b',
    'a/./b',
    'a b',
    'ü',
    'a?b',
    'a%20b',
    'a\n',
    'x'.repeat(600),
  ]) {
    assert.throws(() => producer(name, kind), { code: 'config_invalid' }, JSON.stringify(name))
  }
})

test('limits are the producer kind’s own unless they are given, and must be limits', () => {
  assert.equal(producer('p', kind).maxBytes, 25 * 1024 * 1024)
  assert.equal(producer('p', kind, { maxBytes: 10 }).maxBytes, 10)
  assert.equal(producer('p', kind, { maxReadTime: '2s' }).maxReadMs, 2_000)
  for (const options of [
    { maxBytes: 0 },
    { maxBytes: 1.5 },
    { maxBytes: Number.NaN },
    { maxBytes: Number.POSITIVE_INFINITY },
    { maxReadTime: 0 },
    { maxReadTime: '-1s' as never },
  ]) {
    assert.throws(() => producer('p', kind, options), { code: 'config_invalid' }, JSON.stringify(options))
  }
})

test('types are found by producer and type, each once for a version', () => {
  const one = producer('one', kind)
  const schema = z.object({ id: z.string() })
  const push = one.event('push', { schema })
  const types = eventTypes([push, push, one.event('push', { schema }), producer('two', kind).event('push')])
  assert.equal(types.get('one')?.get('push')?.length, 1)
  assert.equal(types.get('one')?.get('push')?.[0]?.schema, schema)
  assert.equal(types.get('two')?.get('push')?.length, 1)
  assert.equal(types.get('three'), undefined)
})

test('two schemas that can meet the same event are refused: each would hand the other’s triggers its own view', () => {
  const one = producer('one', kind)
  const [a, b] = [z.object({ a: z.string() }), z.object({ b: z.string() })]
  for (const pair of [
    [one.event('push', { schema: a }), one.event('push', { schema: b })],
    [one.event('push', { schema: a }), one.event('push')],
    [one.event('push', { schema: a, version: '1' }), one.event('push', { schema: b })],
    [one.event('push', { schema: a, version: '1' }), one.event('push', { schema: b, version: '1' })],
  ]) {
    assert.throws(() => eventTypes(pair), { code: 'config_invalid', message: /'push'.*'one'/ })
  }
  const versions = eventTypes([
    one.event('push', { schema: a, version: '1' }),
    one.event('push', { schema: b, version: '2' }),
  ])
  assert.equal(versions.get('one')?.get('push')?.length, 2)
})
