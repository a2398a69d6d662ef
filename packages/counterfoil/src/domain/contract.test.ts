import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Contract, Idempotency, Lookup } from './contract.ts'
import { checkContract } from './contract-check.ts'

const idempotency: Idempotency = {
  header: 'Idempotency-Key',
  remembersFor: '24h',
  otherPayload: 'refused',
  replays: 'first-success',
}
const lookup: Lookup = { by: 'key', path: '/operations/{key}', absence: { final: true, after: '30s' } }
const fence = { header: 'Fence-Version', rejectedWith: 412 }

describe('a contract is allowed', () => {
  const allowed: Record<string, Contract> = {
    'that promises nothing': {},
    'with everything': {
      idempotency,
      lookup,
      ordering: { fence },
      outcomes: [
        { status: 200, body: { pointer: '/error/code', equals: 'busy' }, means: 'not-acted' },
        { status: 409, means: 'confirmed' },
        { status: '5xx', means: 'unknown' },
      ],
      correlation: { pointer: '/id' },
    },
    'whose absence is only a hint': { idempotency, lookup: { ...lookup, absence: { final: false } } },
    'that says fenced before its catch-all': {
      ordering: { fence },
      outcomes: [
        { status: 412, means: 'fenced' },
        { status: '4xx', means: 'not-acted' },
      ],
    },
    'that reads one body under the fence status otherwise': {
      ordering: { fence },
      outcomes: [{ status: 412, body: { pointer: '/type', equals: 'precondition' }, means: 'refused' }],
    },
  }
  for (const [name, contract] of Object.entries(allowed)) test(name, () => checkContract('r', contract))

  test('that survives JSON, as all data does', () => {
    const contract = allowed['with everything']!
    assert.deepEqual(JSON.parse(JSON.stringify(contract)), contract)
  })
})

describe('a contract is refused', () => {
  const refused: Record<string, [Contract, RegExp]> = {
    'whose key header is none': [
      { idempotency: { ...idempotency, header: 'Idempotency Key' } },
      /key header/,
    ],
    'that remembers keys for no time': [
      { idempotency: { ...idempotency, remembersFor: 0 } },
      /no time at all/,
    ],
    'that looks up keys it does not take': [{ lookup }, /takes no key/],
    'whose lookup names no key': [
      { idempotency, lookup: { ...lookup, path: '/operations' } },
      /without \{key\}/,
    ],
    'whose absence is final at no stated time': [
      { idempotency, lookup: { ...lookup, absence: { final: true } } },
      /without saying when/,
    ],
    'whose fence header is none': [{ ordering: { fence: { ...fence, header: '' } } }, /fence header/],
    'whose fence rejects with a 200': [
      { ordering: { fence: { ...fence, rejectedWith: 200 } } },
      /no 4xx status/,
    ],
    'whose fence rejects with no number': [
      { ordering: { fence: { ...fence, rejectedWith: Number.NaN } } },
      /no 4xx status/,
    ],
    'that puts key and version into one header': [
      { idempotency, ordering: { fence: { ...fence, header: 'IDEMPOTENCY-KEY' } } },
      /one header/,
    ],
    'that reads the fence status in two ways': [
      { ordering: { fence }, outcomes: [{ status: 412, means: 'refused' }] },
      /both as fenced and as refused/,
    ],
    'whose catch-all hides the fence': [
      { ordering: { fence }, outcomes: [{ status: '4xx', means: 'not-acted' }] },
      /both as fenced and as not-acted/,
    ],
    'with a status that no answer has': [{ outcomes: [{ status: 2000, means: 'refused' }] }, /status 2000/],
    'with a class that does not exist': [
      { outcomes: [{ status: '6xx' as '5xx', means: 'refused' }] },
      /status 6xx/,
    ],
    'with a pointer that is none': [
      { outcomes: [{ status: 200, body: { pointer: 'error', equals: true }, means: 'refused' }] },
      /points at 'error'/,
    ],
    'with such a pointer in its lookup': [
      {
        idempotency,
        lookup: {
          ...lookup,
          answers: [{ status: 200, body: { pointer: 'x', equals: 1 }, means: 'nothing' }],
        },
      },
      /points at 'x'/,
    ],
    'with such a correlation': [{ correlation: { pointer: 'id' } }, /points at 'id'/],
    'with a correlation header that is none': [{ correlation: { header: 'a b' } }, /correlation header/],
  }
  for (const [name, [contract, message]] of Object.entries(refused)) {
    test(name, () => {
      assert.throws(
        () => checkContract('payments', contract),
        (error: Error & { code: string; hint: string }) => {
          assert.equal(error.code, 'contract_invalid')
          assert.match(error.message, /^The contract of recipient 'payments' /)
          assert.match(error.message, message)
          assert.ok(error.hint)
          return true
        },
      )
    })
  }
})
