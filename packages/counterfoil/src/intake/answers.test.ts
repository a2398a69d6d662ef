import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { acceptAll, problemOf, testIntake } from './fixtures/intake.ts'
import { trusted, trustingKind } from './fixtures/kind-under-test.ts'
import { memberOf, textOf } from './members.ts'
import { type OwnAnswers, type ProducerKind, producer } from './producer.ts'
import { refused, verified } from './signature.ts'

const event = { id: 'e1', type: 'paid' }

function answering(answer: OwnAnswers, about: Partial<ProducerKind> = {}) {
  const made = producer('own', trustingKind({ ...about, answer }))
  return testIntake(acceptAll, { producers: [made], types: [made.event('paid')] })
}

describe('an answer of the producer’s own', () => {
  test('has the number and headers that it requires, with our body where it gives none', async () => {
    const { receive } = answering({ accepted: { status: 200, headers: { 'x-kept': 'yes' } } })
    const response = await receive(trusted('own', event))
    assert.deepEqual([response.status, response.headers.get('x-kept')], [200, 'yes'])
    assert.equal(response.headers.get('content-type'), 'application/json')
    assert.equal(((await response.json()) as { outcome: string }).outcome, 'accepted')
  })

  test('has its own body, none at all, or none because of its number', async () => {
    for (const [answer, text] of [
      [{ status: 200, headers: { 'content-type': 'text/plain' }, body: '[accepted]' }, '[accepted]'],
      [{ status: 200, body: '' }, ''],
      [{ status: 204 }, ''],
    ] as const) {
      const response = await answering({ accepted: answer }).receive(trusted('own', event))
      assert.deepEqual([response.status, await response.text()], [answer.status, text])
    }
  })

  test('for what was accepted stands for all that was committed, unless another is given', async () => {
    const own = { accepted: { status: 204 }, conflict: { status: 200 } }
    for (const [type, status] of [
      ['paid', 204],
      ['unheard of', 204],
    ] as const) {
      assert.equal((await answering(own).receive(trusted('own', { id: 'x', type }))).status, status)
    }
    const { receive, ports } = answering(own)
    ports.store.accept = async ({ receipt, onConflict }) => ({
      outcome: 'conflict',
      receipt: receipt.id,
      quarantine: onConflict.id,
      first: receipt.id,
      repeated: false,
    })
    assert.equal((await receive(trusted('own', event))).status, 200)
  })

  test('to what is not authentic changes the number alone, and to nothing else', async () => {
    const { receive } = answering({ unauthenticated: { status: 498 } })
    const forged = await receive(trusted('own', event, { headers: { 'x-signed': 'no' } }))
    assert.equal(forged.status, 498)
    assert.equal((await problemOf(forged)).code, 'signature_invalid')
    assert.equal((await receive(trusted('own', '{'))).status, 400)
    assert.equal(
      (await receive(trusted('own', event, { headers: { 'content-type': 'text/xml' } }))).status,
      415,
    )
  })

  test('never covers our own failure', async () => {
    const { receive, ports } = answering({
      accepted: { status: 200, body: 'ok' },
      unauthenticated: { status: 498 },
    })
    ports.store.accept = async () => {
      throw new Error('the disk is gone')
    }
    assert.equal((await receive(trusted('own', event))).status, 503)
  })
})

describe('a handshake', () => {
  const challenge: Partial<ProducerKind> = {
    handshake(delivery, payload) {
      const asked =
        delivery.method === 'GET' ? delivery.query('challenge') : textOf(memberOf(payload, 'challenge'))
      return asked === null ? null : { status: 200, headers: { 'content-type': 'text/plain' }, body: asked }
    },
    methods: ['GET'],
    verify: (delivery) =>
      delivery.header('x-signed') === 'yes' || delivery.query('token') === 'right'
        ? verified
        : refused('signature_invalid', 'nobody signed it'),
  }
  const shaking = () => {
    const made = producer('own', trustingKind(challenge))
    return testIntake(acceptAll, { producers: [made], types: [made.event('paid')] })
  }

  test('is answered, counted, and keeps nothing', async () => {
    const { receive, entries, counters } = shaking()
    const response = await receive(trusted('own', { challenge: 'abc' }))
    assert.deepEqual([response.status, await response.text()], [200, 'abc'])
    assert.equal(entries.length, 0)
    assert.equal(counters.get('own handshake'), 1)
    assert.equal((await receive(trusted('own', event))).status, 202)
  })

  test('is never answered before it was verified: the answer may be worth something to others', async () => {
    const { receive } = shaking()
    for (const request of [
      trusted('own', { challenge: 'abc' }, { headers: { 'x-signed': 'no' } }),
      trusted('own', '', {
        method: 'GET',
        query: '?challenge=abc&token=wrong',
        headers: { 'x-signed': 'no' },
      }),
    ]) {
      const response = await receive(request)
      assert.equal(response.status, 401)
      assert.doesNotMatch(await response.text(), /abc/)
    }
  })

  test('comes by GET where the kind says so, and GET brings nothing else', async () => {
    const { receive, entries } = shaking()
    const get = (query: string) =>
      receive(trusted('own', '', { method: 'GET', query, headers: { 'x-signed': 'no' } }))
    const shaken = await get('?token=right&challenge=a%20b')
    assert.deepEqual([shaken.status, await shaken.text()], [200, 'a b'])
    const plain = await get('?token=right')
    assert.deepEqual([plain.status, plain.headers.get('allow')], [405, 'POST, GET'])
    assert.equal(entries.length, 0)
    for (const method of ['PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']) {
      assert.equal((await receive(trusted('own', '', { method }))).status, 405, method)
    }
  })
})
