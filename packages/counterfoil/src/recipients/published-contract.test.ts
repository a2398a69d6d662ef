import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Contract, Exchange } from '../domain/index.ts'
import type { Network, NetworkRequest } from './network.ts'
import { publishedContract } from './published-contract.ts'

const contract: Contract = {
  idempotency: {
    header: 'Idempotency-Key',
    remembersFor: '24h',
    otherPayload: 'refused',
    replays: 'first-success',
  },
  lookup: { by: 'key', path: '/keys/{key}', absence: { final: false } },
  ordering: { fence: { header: 'Fence-Version', rejectedWith: 412 } },
}

/** A network on which one answer is read. */
function answering(answer: Partial<Extract<Exchange, { kind: 'answered' }>> | Exchange) {
  const asked: NetworkRequest[] = []
  const network: Network = {
    async send(request) {
      asked.push(request)
      return { kind: 'answered', status: 200, headers: {}, body: new Uint8Array(0), ...answer } as Exchange
    },
    async close() {},
  }
  return { network, asked }
}
const body = (value: unknown) => ({
  body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
})

test('the contract is read from its well-known place at the origin', async () => {
  const { network, asked } = answering(body(contract))
  assert.deepEqual(await publishedContract('https://seats.internal/v1?x=1', { network }), contract)
  const [{ url, method, allowPrivateAddresses } = {} as NetworkRequest] = asked
  assert.equal(url?.href, 'https://seats.internal/.well-known/counterfoil-contract.json')
  assert.deepEqual([method, allowPrivateAddresses, asked.length], ['GET', false, 1])
})

describe('what cannot be read as a contract is refused, and says why', () => {
  const { idempotency, lookup } = contract
  const cases: [string, Parameters<typeof answering>[0], RegExp][] = [
    ['no answer', { kind: 'unclear', why: 'no complete answer within 10000 ms' }, /no complete answer/],
    ['a private address', { kind: 'notSent', why: 'address_refused: 10.0.0.1' }, /address_refused/],
    ['another status', { status: 404 }, /answered 404/],
    ['a redirect', { status: 302, headers: { location: 'https://evil.example' } }, /answered 302/],
    ['no JSON', body('<html>'), /no JSON/],
    ['bytes that are not UTF-8', { body: Uint8Array.of(0xff) }, /no JSON/],
    ['a list', body([contract]), /no JSON object/],
    [
      'a key without its retention',
      body({ idempotency: { ...idempotency, remembersFor: undefined } }),
      /remembersFor/,
    ],
    [
      'a key that says not what it replays',
      body({ idempotency: { ...idempotency, replays: 'always' } }),
      /replays/,
    ],
    ['a lookup of another kind', body({ idempotency, lookup: { ...lookup, by: 'guess' } }), /lookup\/by/],
    [
      'absence that is neither',
      body({ idempotency, lookup: { ...lookup, absence: { final: 'yes' } } }),
      /final/,
    ],
    ['a part that is no object', body({ ordering: { fence: 412 } }), /fence is no object/],
    ['rules that are none', body({ outcomes: [412] }), /outcomes/],
  ]
  for (const [name, answer, why] of cases) {
    test(name, async () => {
      const { network } = answering(answer)
      await assert.rejects(publishedContract('https://seats.internal', { network }), {
        code: 'contract_unpublished',
        message: why,
      })
    })
  }

  test('one that contradicts itself', async () => {
    const { network } = answering(body({ lookup }))
    await assert.rejects(publishedContract('https://seats.internal', { network }), {
      code: 'contract_invalid',
    })
  })
})
