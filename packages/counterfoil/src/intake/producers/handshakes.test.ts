import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { deliveryOf } from '../fixtures/senders.ts'
import { azureEventGrid, meta, slack, zoom } from './index.ts'

describe('a handshake', () => {
  test('of Zoom is answered with the secret that asked, whichever of ours it is', () => {
    const kind = zoom({ secrets: ['new', 'old'] })
    const payload = { event: 'endpoint.url_validation', payload: { plainToken: 'p' } }
    const body = JSON.stringify(payload)
    for (const secret of ['new', 'old']) {
      const hmac = (text: string) => createHmac('sha256', secret).update(text).digest('hex')
      const headers = { 'x-zm-request-timestamp': '1', 'x-zm-signature': `v0=${hmac(`v0:1:${body}`)}` }
      const answer = kind.handshake?.(deliveryOf(headers, body), payload)
      assert.deepEqual(JSON.parse(answer!.body!), { plainToken: 'p', encryptedToken: hmac('p') })
    }
  })

  test('of Zoom that nobody signed gets no answer, even if it were asked for one', () => {
    const payload = { event: 'endpoint.url_validation', payload: { plainToken: 'v0:1:{"event":"forged"}' } }
    const headers = { 'x-zm-request-timestamp': '1', 'x-zm-signature': 'v0=00' }
    assert.equal(zoom({ secrets: 'new' }).handshake?.(deliveryOf(headers, '{}'), payload), null)
  })

  test('of Meta shows a number and nothing else under our name', () => {
    const kind = meta({ secrets: 's', verifyTokens: 't' })
    const asks = (challenge: string, method = 'GET') =>
      kind.handshake?.(
        deliveryOf({}, '', { method, url: `https://hooks.example/in/m?hub.challenge=${challenge}` }),
        undefined,
      )
    assert.equal(asks('123')?.body, '123')
    for (const text of ['', '<script>', '1a', '9'.repeat(21)])
      assert.equal(asks(encodeURIComponent(text)), null, text)
    assert.equal(asks('123', 'POST'), null)
  })

  test('is told from an event by its type', () => {
    const hook = slack({ secrets: 's' })
    const delivery = deliveryOf({}, '')
    assert.equal(hook.handshake?.(delivery, { type: 'event_callback', challenge: 'x' }), null)
    assert.equal(hook.handshake?.(delivery, { type: 'url_verification' }), null)
    assert.equal(hook.handshake?.(delivery, undefined), null)
    const grid = azureEventGrid({ secrets: 's' })
    const validation = [{ data: { validationCode: 'c' } }]
    assert.equal(grid.handshake?.(delivery, validation), null)
    const asked = deliveryOf({ 'aeg-event-type': 'SubscriptionValidation' }, '')
    assert.equal(grid.handshake?.(asked, validation)?.body, '{"validationResponse":"c"}')
  })
})
