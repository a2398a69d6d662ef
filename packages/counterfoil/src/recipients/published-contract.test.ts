import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { Contract, Exchange } from '../domain/index.ts'
import type { Network, NetworkRequest } from './network.ts'
import { publishedContract } from './published-contract.ts'
import { recipient } from './recipient.ts'

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

describe('kept in a file, a contract', () => {
  const url = 'https://seats.internal'
  const down = { kind: 'notSent', why: 'refused the connection' } as const

  function kept(t: TestContext) {
    const directory = mkdtempSync(join(tmpdir(), 'counterfoil-contract-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const keptIn = join(directory, 'seats.contract.json')
    const told: string[] = []
    const log = (level: string, message: string) => void told.push(`${level}: ${message}`)
    return {
      keptIn,
      told,
      read: (answer: Parameters<typeof answering>[0]) =>
        publishedContract(url, { network: answering(answer).network, keptIn, log }),
    }
  }

  test('holds while the service is down, or publishes none or nonsense, and that is told', async (t) => {
    const { read, told } = kept(t)
    await assert.rejects(read(down), { code: 'contract_unpublished' }, 'there is none yet')
    assert.deepEqual(await read(body(contract)), contract)
    assert.deepEqual(told, [])
    for (const answer of [down, { status: 404 }, body('<html>'), body({ lookup: contract.lookup })])
      assert.deepEqual(await read(answer), contract)
    assert.equal(told.length, 4)
    for (const line of told) assert.match(line, /^warn: .*could not be read; the kept one holds/)
  })

  test('gives way to another that is published, which is told and kept', async (t) => {
    const { read, told, keptIn } = kept(t)
    await read(body(contract))
    const later = { idempotency: { ...contract.idempotency!, remembersFor: '30d' } }
    assert.deepEqual(await read(body(later)), later)
    assert.deepEqual(told, ['warn: a published contract is another than the kept one'])
    assert.deepEqual(JSON.parse(readFileSync(keptIn, 'utf8')), later)
    assert.deepEqual(await read(down), later)
  })

  test('that somebody spoilt is refused: which rules hold would be a guess', async (t) => {
    const { read, keptIn } = kept(t)
    for (const text of [
      '',
      '{"idempotency":',
      '[]',
      '{"idempotency":{}}',
      '{"lookup":{"by":"key","absence":{"final":false}}}',
    ]) {
      writeFileSync(keptIn, text)
      await assert.rejects(read(down), { code: 'config_invalid' }, text)
    }
  })

  test('that cannot be written is told, and no reason not to start', async (t) => {
    const { told, keptIn } = kept(t)
    const { network } = answering(body(contract))
    const log = (_: string, message: string) => void told.push(message)
    const nowhere = join(keptIn, 'not-a-directory.json')
    assert.deepEqual(await publishedContract(url, { network, keptIn: nowhere, log }), contract)
    assert.deepEqual(told, ['a published contract could not be kept'])
  })
})

test('with fence, effects may claim order; a contract that compares no versions is refused', async () => {
  const { network } = answering(body(contract))
  const url = 'https://seats.internal'
  const fenced = recipient('seats', { url, contract: await publishedContract(url, { network, fence: true }) })
  const plain = recipient('seats', { url, contract: await publishedContract(url, { network }) })
  const about = { payload: z.object({}), request: () => ({ method: 'PUT', path: '' }) }
  const ordered: true = fenced.effect('a', about).ordered
  // @ts-expect-error nobody asked whether it compares versions
  const unknown: true = plain.effect('a', about).ordered
  assert.ok(ordered && unknown)
  const { ordering: _, ...unfenced } = contract
  await assert.rejects(publishedContract(url, { network: answering(body(unfenced)).network, fence: true }), {
    code: 'order_without_fence',
  })
})
