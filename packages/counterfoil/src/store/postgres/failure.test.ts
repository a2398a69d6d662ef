import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CounterfoilError } from '../../domain/index.ts'
import { endsConnection, toError } from './failure.ts'

const failed = (code: string) => Object.assign(new Error('it failed'), { code })

// Five capitals are not yet a code of PostgreSQL.
for (const code of ['EPIPE', 'EBUSY', 'ENXIO', 'ECONNRESET', 'ETIMEDOUT']) {
  test(`'${code}' of the socket ends the connection, and leaves open whether a write committed`, () => {
    assert.ok(endsConnection(failed(code)))
    const told = toError(failed(code), 'postgres://db/x', 'write')
    assert.ok(told instanceof CounterfoilError)
    assert.equal(told.code, 'commit_unknown')
  })
}

for (const code of ['23505', '40001', '0A000', 'F0000', 'HV000', 'P0001', 'XX000']) {
  test(`'${code}' is PostgreSQL's own, and does not end the connection by itself`, () => {
    assert.ok(!endsConnection(failed(code)))
  })
}
