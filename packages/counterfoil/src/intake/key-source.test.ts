import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CounterfoilError, Exchange } from '../domain/index.ts'
import type { NetworkRequest } from '../recipients/index.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { acceptAll, problemOf, testIntake } from './fixtures/intake.ts'
import { trusted, trustingKind } from './fixtures/kind-under-test.ts'
import { keySource, keysAskedAgainMs, keysKeptMs, maxKeptKeys, maxQuestions } from './key-source.ts'
import { producer } from './producer.ts'
import { refused, verified } from './signature.ts'

const hosts = ['keys.example.com', 'sns.*.amazonaws.com']
const url = 'https://keys.example.com/jwks'
const text = (body: Uint8Array) => Buffer.from(body).toString()

function answer(status: number, body = ''): Exchange {
  return { kind: 'answered', status, headers: {}, body: Buffer.from(body) }
}

/** A source over a server that answers as told, and what it was asked. */
function source(respond: (request: NetworkRequest, count: number) => Exchange | Promise<Exchange>) {
  const asked: NetworkRequest[] = []
  const clock = new VirtualClock(1_000_000_000_000)
  const network = {
    send: async (request: NetworkRequest) => {
      asked.push(request)
      return await respond(request, asked.length)
    },
  }
  return { keys: keySource(hosts, network, clock), asked, clock }
}

const code = async (promise: Promise<unknown>) =>
  await promise.then(
    () => 'fulfilled',
    (error: CounterfoilError) => error.code,
  )

describe('keys that lie elsewhere', () => {
  test('are fetched once, read once, and kept for an hour', async () => {
    const { keys, asked, clock } = source((_, count) => answer(200, `key ${count}`))
    assert.equal(await keys.get({ url }, text), 'key 1')
    clock.jump(keysKeptMs - 1)
    assert.equal(await keys.get({ url }, text), 'key 1')
    clock.jump(1)
    assert.equal(await keys.get({ url }, text), 'key 2')
    assert.equal(asked.length, 2)
    assert.equal(asked[0]!.allowPrivateAddresses, false)
  })

  test('are asked for once by those who need them at once', async () => {
    let respond = (_: Exchange) => {}
    const waiting = new Promise<Exchange>((resolve) => {
      respond = resolve
    })
    const { keys, asked } = source(() => waiting)
    const all = Array.from({ length: 50 }, () => keys.get({ url }, text))
    respond(answer(200, 'key'))
    assert.deepEqual(new Set(await Promise.all(all)), new Set(['key']))
    assert.equal(asked.length, 1)
  })

  test('are asked for again for a key that is not among them, but not twice within a minute', async () => {
    const { keys, asked, clock } = source((_, count) => answer(200, `key ${count}`))
    const again = () => keys.get({ url }, text, { again: true })
    await keys.get({ url }, text)
    assert.equal(await again(), 'key 1')
    clock.jump(keysAskedAgainMs)
    assert.equal(await again(), 'key 2')
    assert.equal(await again(), 'key 2')
    assert.equal(asked.length, 2)
  })

  test('that are not there are none, for a minute', async () => {
    for (const status of [400, 404, 410]) {
      const { keys, asked, clock } = source((_, count) => (count === 1 ? answer(status) : answer(200, 'key')))
      assert.equal(await keys.get({ url }, text), null)
      assert.equal(await keys.get({ url }, text), null)
      assert.equal(asked.length, 1)
      clock.jump(keysAskedAgainMs)
      assert.equal(await keys.get({ url }, text), 'key')
    }
    const broken = source(() => answer(200, 'no key'))
    assert.equal(
      await broken.keys.get({ url }, () => {
        throw new Error('no PEM')
      }),
      null,
    )
  })

  test('are told apart by what is asked', async () => {
    const { keys } = source(({ method, body }) => answer(200, `${method} ${text(body ?? new Uint8Array())}`))
    assert.equal(await keys.get({ url }, text), 'GET ')
    assert.equal(await keys.get({ url, method: 'POST', body: 'a' }, text), 'POST a')
    assert.equal(await keys.get({ url, method: 'POST', body: 'b' }, text), 'POST b')
  })

  test('of a server that fails are unavailable, and nothing of that is remembered', async () => {
    const failures: Exchange[] = [
      answer(500),
      answer(401),
      answer(403),
      answer(302),
      { kind: 'notSent', why: 'no route' },
      { kind: 'unclear', why: 'time-out' },
    ]
    const { keys } = source((_, count) => failures[count - 1] ?? answer(200, 'key'))
    for (const _ of failures) assert.equal(await code(keys.get({ url }, text)), 'keys_unavailable')
    assert.equal(await keys.get({ url }, text), 'key')
  })

  test('are asked of the listed hosts alone, over https, at its own port', async () => {
    const { keys, asked } = source(() => answer(200, 'key'))
    const refusedUrls = [
      'http://keys.example.com/jwks',
      'https://keys.example.com:8443/jwks',
      'https://keys.example.com@evil.example/',
      'https://user:pass@keys.example.com/',
      'https://evil.example/keys.example.com',
      'https://keys.example.com.evil.example/',
      'https://xkeys.example.com/',
      'https://sns.us-east-1.evil.amazonaws.com/',
      'https://sns..amazonaws.com/',
      'https://sns.amazonaws.com/',
      'https://169.254.169.254/',
      'https://keys.example.com\u3002evil.example/',
      'file:///etc/passwd',
      'nonsense',
      '',
    ]
    for (const one of refusedUrls) {
      assert.equal(await code(keys.get({ url: one }, text)), 'key_address_refused', one)
    }
    assert.equal(asked.length, 0)
    assert.equal(await keys.get({ url: 'https://sns.eu-west-1.amazonaws.com/x.pem' }, text), 'key')
    assert.equal(await keys.get({ url: 'https://KEYS.example.com:443/jwks' }, text), 'key')
  })

  test('made up by senders push out no good ones, fill no memory, and are not asked for without end', async () => {
    const { keys, asked, clock } = source(({ body }) => (body === null ? answer(200, 'good') : answer(404)))
    await keys.get({ url }, text)
    for (let round = 0; round < 5; round++) {
      for (let at = 0; at < 2 * maxQuestions; at++) {
        await code(keys.get({ url, method: 'POST', body: `${round} ${at}` }, text))
      }
      clock.jump(60_000)
    }
    assert.ok(asked.length <= 5 * maxQuestions + 1)
    assert.ok(asked.length > maxKeptKeys)
    const before = asked.length
    assert.equal(await keys.get({ url }, text), 'good')
    assert.equal(asked.length, before)
  })
})

describe('a producer whose keys lie elsewhere', () => {
  const fetching = (keyUrl: string) =>
    producer(
      'fetching',
      trustingKind({
        keyHosts: hosts,
        verify: async (delivery, _now, keys) =>
          (await keys.get({ url: keyUrl }, text)) === delivery.header('x-signed')
            ? verified
            : refused('signature_invalid', 'another key'),
      }),
    )
  const outcome = async (keyUrl: string, exchange: Exchange) => {
    const { receive, entries } = testIntake(acceptAll, {
      producers: [fetching(keyUrl)],
      network: { send: async () => exchange },
    })
    const response = await receive(trusted('fetching', { id: 'e1', type: 't' }))
    const { code: told, retryAfter } = await problemOf(response)
    return [response.status, told, retryAfter !== null, entries.length]
  }

  test('verifies with them; a key server that is down is our fault, a strange address the sender’s', async () => {
    assert.deepEqual(await outcome(url, answer(200, 'yes')), [202, undefined, false, 1])
    assert.deepEqual(await outcome(url, answer(200, 'no')), [401, 'signature_invalid', false, 0])
    assert.deepEqual(await outcome(url, answer(500)), [503, 'keys_unavailable', true, 0])
    assert.deepEqual(await outcome('https://evil.example/', answer(200, 'yes')), [
      401,
      'key_address_refused',
      false,
      0,
    ])
  })
})
