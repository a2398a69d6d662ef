import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CounterfoilError } from '../../domain/index.ts'
import { parseHosts } from './hosts.ts'
import { postgres } from './index.ts'

test('a URL of several hosts is one URL for each, in their order', () => {
  const { urls, location } = parseHosts(
    'postgres://app:p%40ss@db-1:5433,db-2,[::1]:5434/ledger?sslmode=require',
  )
  assert.deepEqual(urls, [
    'postgres://app:p%40ss@db-1:5433/ledger?sslmode=require',
    'postgres://app:p%40ss@db-2/ledger?sslmode=require',
    'postgres://app:p%40ss@[::1]:5434/ledger?sslmode=require',
  ])
  assert.equal(location, 'postgres://db-1:5433,db-2,[::1]:5434/ledger')
})

test('the URL’s own options are kept apart, to be joined with ours', () => {
  const { urls, options } = parseHosts(
    'postgresql://localhost/app?options=-c%20search_path%3Dmine&sslmode=disable',
  )
  assert.equal(options, '-c search_path=mine')
  assert.deepEqual(urls, ['postgres://localhost/app?sslmode=disable'])
})

for (const url of [
  'mysql://root:secret@db/app',
  'db.internal',
  'postgres://u:secret@db:port/app',
  'postgres://u:secret@a b/app',
]) {
  test(`'${url}' is refused without quoting its password`, () => {
    assert.throws(
      () => postgres(url),
      (error) => {
        assert.ok(error instanceof CounterfoilError)
        assert.equal(error.code, 'config_invalid')
        assert.doesNotMatch(`${error.message} ${error.hint} ${error.stack}`, /secret/)
        return true
      },
    )
  })
}

test('what a person reads names neither user nor password', () => {
  assert.equal(postgres('postgres://app:secret@db/ledger').location, 'postgres://db/ledger')
})

test('options outside their range and names that are no plain names are refused', () => {
  const url = 'postgres://localhost/app'
  for (const options of [
    { schema: 'a"b' },
    { schema: '' },
    { triggerRole: 'x; drop schema y' },
    { lanes: 0 },
    { maxConnections: 1.5 },
    { statementTimeoutMs: Number.NaN },
  ]) {
    assert.throws(() => postgres(url, options), { code: 'config_invalid' })
  }
})
