import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { deliveryOf } from './fixtures/senders.ts'
import { mailgun } from './producers/index.ts'
import { maxTokens, SingleUse } from './single-use.ts'

const [one, other] = [Buffer.from('one'), Buffer.from('other')]

describe('a token for single use', () => {
  test('counts for the same content again, and never for another while it is fresh', () => {
    const tokens = new SingleUse(1_000)
    assert.equal(tokens.take('t', one, 0), true)
    assert.equal(tokens.take('t', one, 999), true)
    assert.equal(tokens.take('t', other, 999), false)
    assert.equal(tokens.take('u', other, 999), true)
    assert.equal(tokens.take('t', other, 1_000), true)
  })

  test('is forgotten only when too many younger ones came', () => {
    const tokens = new SingleUse(1_000)
    for (let number = 0; number < maxTokens; number++) tokens.take(String(number), one, 0)
    assert.equal(tokens.take('0', other, 0), false)
    tokens.take('another', one, 0)
    assert.equal(tokens.take('0', other, 0), true)
    assert.equal(tokens.take('2', other, 0), false)
  })
})

test('Mailgun: a captured token does not carry another event', () => {
  const now = 1_767_225_600
  const signature = createHmac('sha256', 'key').update(`${now}token`).digest('hex')
  const kind = mailgun({ secrets: 'key' })
  const send = (event: string) => {
    const body = { signature: { timestamp: String(now), token: 'token', signature }, 'event-data': { event } }
    return kind.verify(deliveryOf({}, JSON.stringify(body)), now * 1000).kind
  }
  assert.equal(send('opened'), 'verified')
  assert.equal(send('opened'), 'verified')
  assert.equal(send('complained'), 'refused')
})
