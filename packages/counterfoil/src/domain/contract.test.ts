import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Contract, Idempotency, Lookup } from './contract.ts'
import { checkContract } from './contract-check.ts'

const idempotency = {
  header: 'Idempotency-Key',
  remembersFor: '24h',
  otherPayload: 'refused',
  replays: 'first-success',
} as const satisfies Idempotency
const lookup = {
  by: 'key',
  path: '/operations/{key}',
  absence: { final: true, after: '30s' },
} as const satisfies Lookup
const { header: _, ...keyless } = idempotency
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
    'that puts the key in two places': [
      { idempotency: { ...idempotency, pointer: '/key' } as unknown as Idempotency },
      /no place or in several/,
    ],
    'that puts the key in no place': [
      { idempotency: { ...idempotency, header: undefined } as unknown as Idempotency },
      /no place or in several/,
    ],
    'whose key stands at no pointer': [{ idempotency: { ...keyless, pointer: 'key' } }, /points at 'key'/],
    'whose key is the whole body': [{ idempotency: { ...keyless, pointer: '' } }, /points at ''/],
    'whose query member is none': [{ idempotency: { ...keyless, query: 'a&b' } }, /query member/],
    'whose keys are too short to keep effects apart': [
      { idempotency: { ...idempotency, format: { form: 'text', maxLength: 20, alphabet: 'hex' } } },
      /format that is unfit.*128 bits/,
    ],
    'that gives the first answer and replays nothing': [
      { idempotency: { ...idempotency, otherPayload: 'first-answer', replays: 'nothing' } },
      /replays nothing/,
    ],
    'that marks replays and replays nothing': [
      { idempotency: { ...idempotency, replays: 'nothing', marker: { header: 'Replayed' } } },
      /marks what it replays/,
    ],
    'whose marker is no header': [
      { idempotency: { ...idempotency, marker: { header: 'Re played' } } },
      /marker header/,
    ],
    'that reads one answer as in work and as refused': [
      {
        idempotency: { ...idempotency, inFlight: { status: 409 } },
        outcomes: [{ status: 409, means: 'refused' }],
      },
      /both as still in work and as refused/,
    ],
    'that asks by a correlation which it never gets': [
      { lookup: { by: 'correlation', path: '/jobs/{correlation}', absence: { final: false } } },
      /not where that comes from/,
    ],
    'whose correlation goes nowhere': [
      {
        correlation: { pointer: '/id' },
        lookup: { by: 'correlation', path: '/jobs', absence: { final: false } },
      },
      /without \{correlation\}/,
    ],
    'that asks by a function and by a path': [
      { lookup: { by: 'function', path: '/x', absence: { final: false } } as unknown as Lookup },
      /names a path too/,
    ],
    'whose absence is final and never told': [
      { idempotency, lookup: { ...lookup, answers: [{ status: 404, means: 'nothing' }] } },
      /no answer that means absent/,
    ],
    'whose absence is final for a time it does not state': [
      { idempotency: { ...idempotency, remembersFor: 'unstated' }, lookup },
      /not how long it can find/,
    ],
    'that accepts and cannot be asked': [
      { outcomes: [{ status: 202, means: 'accepted' }] },
      /no lookup to learn the end/,
    ],
    'that reads fenced and compares nothing': [
      { outcomes: [{ status: 412, means: 'fenced' }] },
      /compares no versions/,
    ],
    'whose ordering is of no kind': [{ ordering: {} }, /ordering of no kind/],
    'that takes effects in turn and does not': [
      { ordering: { inTurn: false as never } },
      /in turn and does not/,
    ],
    'whose condition is no header': [
      { ordering: { conditional: { header: 'If Match', rejectedWith: 412 } } },
      /condition header/,
    ],
    'that puts condition and key into one header': [
      { idempotency, ordering: { conditional: { header: 'idempotency-key', rejectedWith: 412 } } },
      /another use/,
    ],
    'whose condition is rejected with a 500': [
      { ordering: { conditional: { header: 'If-Match', rejectedWith: 500 } } },
      /no 4xx status/,
    ],
    'that closes keys it does not take': [
      { ordering: { tombstone: { method: 'PUT', path: '/{key}' } } },
      /closes keys but takes none/,
    ],
    'whose tombstone names no key': [
      { idempotency, ordering: { tombstone: { method: 'PUT', path: '/tombstones' } } },
      /tombstone path without \{key\}/,
    ],
    'that places tombstones with GET': [
      { idempotency, ordering: { tombstone: { method: 'GET' as 'PUT', path: '/{key}' } } },
      /with GET/,
    ],
    'that closes keys it knows for a time it does not state': [
      {
        idempotency: { ...idempotency, remembersFor: 'unstated' },
        ordering: { tombstone: { method: 'PUT', path: '/{key}' } },
      },
      /not how long it knows them/,
    ],
    'with a rule that an earlier one hides': [
      {
        outcomes: [
          { status: '4xx', means: 'refused' },
          { status: 404, means: 'confirmed' },
        ],
      },
      /rule for 404 that an earlier one for 4xx hides/,
    ],
    'with a rule for no valid header': [
      { outcomes: [{ status: 400, header: { name: '' }, means: 'refused' }] },
      /no valid header/,
    ],
    'that waits by no valid header': [{ waits: [{ header: '', as: 'seconds' }] }, /wait header/],
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
