import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { type JWK, type JWTPayload, SignJWT } from 'jose'
import { keyServer } from '../fixtures/key-server.ts'
import { deliveryOf } from '../fixtures/senders.ts'
import { arrives, bodyOf, kindOf, serverOf, vectorsOf, verdict } from '../fixtures/vectors.ts'
import { azureEventGrid, googlePubSub, plaid } from './index.ts'

const now = 1_767_225_600
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwk: JWK = { ...(rsa.publicKey.export({ format: 'jwk' }) as JWK), kid: 'a' }

describe('Amazon SNS', () => {
  for (const id of ['aws-sns-07', 'aws-sns-08']) {
    const vector = vectorsOf('aws-sns').find((one) => one.id === id)!

    async function asks(config: object = vector.config) {
      const kind = kindOf['aws-sns']!(config)
      const { keys, asked } = serverOf(vector, kind.keyHosts)
      const { kind: said } = await kind.verify(arrives(vector), vector.now * 1000, keys)
      return { said, asked }
    }

    test(`of a confirmation only the certificate is fetched, whoever its topic belongs to: ${id}`, async () => {
      const certificate = vector.served!.map(({ url }) => url)
      assert.deepEqual(await asks(), { said: 'verified', asked: certificate })
      const others = await asks({ topics: 'arn:aws:sns:us-west-2:1:Other' })
      assert.deepEqual(others, { said: 'refused', asked: certificate })
    })

    test(`a confirmation is an event with the envelope as its data: ${id}`, () => {
      const kind = kindOf['aws-sns']!({ ...vector.config, content: 'json' })
      const payload = { ...JSON.parse(String(bodyOf(vector))), Message: '{"a":1}' }
      assert.equal(kind.handshake?.(arrives(vector), payload) ?? null, null)
      assert.ok(kind.approved?.includes(kind.facts(payload, arrives(vector)).type!))
      assert.deepEqual(kind.data(payload), payload)
    })
  }

  test('the text of a message may be the data', () => {
    const kind = kindOf['aws-sns']!({ topics: 'arn', content: 'json' })
    const message = (text: string) => ({ Type: 'Notification', Message: text })
    assert.deepEqual(kind.data(message('{"a":1}')), { a: 1 })
    assert.deepEqual(kind.data(message('no json')), message('no json'))
  })
})

describe('PayPal', () => {
  test('a certificate of the sandbox vouches for nothing live', async () => {
    const vector = vectorsOf('paypal').find((one) => one.id === 'paypal-01')!
    const headers = { ...vector.request.headers, 'PAYPAL-CERT-URL': 'https://api.sandbox.paypal.com/cert' }
    const refusal = await verdict('paypal', vector, { headers })
    assert.ok(refusal.kind === 'refused' && refusal.code === 'key_address_refused')
  })
})

describe('Azure Event Grid with Microsoft Entra', () => {
  const entra = { tenant: 'tenant-1', audience: 'api://us' }
  const claims: JWTPayload = {
    iss: 'https://login.microsoftonline.com/tenant-1/v2.0',
    aud: 'api://us',
    azp: '4962773b-9cdb-44cf-a8bf-237846a00ab7',
    iat: now,
    exp: now + 3_600,
  }

  async function said(change: JWTPayload, options: object = { entra }, query = ''): Promise<string> {
    const kind = azureEventGrid(options)
    const { keys } = keyServer(kind.keyHosts!, (url) => {
      const isOurs = url === 'https://login.microsoftonline.com/tenant-1/discovery/v2.0/keys'
      return isOurs ? JSON.stringify({ keys: [jwk] }) : null
    })
    const payload = { ...claims, ...change }
    const token = await new SignJWT(payload)
      .setProtectedHeader({ alg: 'RS256', kid: 'a' })
      .sign(rsa.privateKey)
    const delivery = deliveryOf({ authorization: `Bearer ${token}` }, '[]', {
      url: `https://hooks.example/in/eg${query}`,
    })
    return (await kind.verify(delivery, now * 1000, keys)).kind
  }

  test('a token of Event Grid for us, in either version, is accepted', async () => {
    assert.equal(await said({}), 'verified')
    const first = { iss: 'https://sts.windows.net/tenant-1/', azp: undefined, appid: claims.azp }
    assert.equal(await said(first as JWTPayload), 'verified')
  })

  test('of another application, tenant or audience it is not', async () => {
    for (const change of [
      { azp: 'another application' },
      { azp: undefined },
      { iss: 'https://login.microsoftonline.com/tenant-2/v2.0' },
      { aud: 'api://them' },
      { exp: now },
    ]) {
      assert.equal(await said(change as JWTPayload), 'refused', JSON.stringify(change))
    }
  })

  test('a bad token is not saved by the secret in the query', async () => {
    const both = { entra, secrets: 'secret' }
    assert.equal(await said({ azp: 'another' }, both, '?code=secret'), 'refused')
    const delivery = deliveryOf({}, '[]', { url: 'https://hooks.example/in/eg?code=secret' })
    const { keys } = keyServer([], () => null)
    assert.equal((await azureEventGrid(both).verify(delivery, now * 1000, keys)).kind, 'verified')
    assert.equal((await azureEventGrid({ entra }).verify(delivery, now * 1000, keys)).kind, 'refused')
  })

  test('a tenant that would change the address of its keys is refused at construction', () => {
    for (const tenant of ['', 'a/b', '../x', 'a?b']) {
      assert.throws(() => azureEventGrid({ entra: { ...entra, tenant } }), { code: 'config_invalid' }, tenant)
    }
  })
})

describe('Google Pub/Sub', () => {
  const payload = {
    message: {
      messageId: '1',
      data: Buffer.from('{"a":1}').toString('base64'),
      attributes: { kind: 'made' },
    },
  }
  const base = { audience: 'us', serviceAccounts: 'push@us' }

  test('the data of a message may be the event’s, and an attribute its type', () => {
    const kind = googlePubSub({ ...base, content: 'json', typeAttribute: 'kind' })
    assert.deepEqual(kind.data(payload), { a: 1 })
    assert.equal(kind.facts(payload, deliveryOf({}, '')).type, 'made')
    assert.equal(kind.facts({ message: {} }, deliveryOf({}, '')).type, null)
    const plain = googlePubSub(base)
    assert.deepEqual(plain.data(payload), payload.message)
    assert.equal(plain.facts(payload, deliveryOf({}, '')).type, 'message')
  })
})

describe('Plaid', () => {
  const vector = vectorsOf('plaid').find((one) => one.id === 'plaid-01')!
  const { body: answer } = vector.served![0]!
  const credentials = { clientId: 'client', secret: 'plaid-api-secret' }

  async function ask(answered: string | null, options: object = {}) {
    const kind = plaid({ ...credentials, ...options })
    const bodies: string[] = []
    const { keys, asked } = keyServer(kind.keyHosts!, (_, body) => {
      bodies.push(body)
      return answered
    })
    const { kind: said } = await kind.verify(arrives(vector), vector.now * 1000, keys)
    return { said, asked, bodies }
  }

  test('is asked for the key that a delivery names, with our credentials', async () => {
    const { said, asked, bodies } = await ask(answer)
    assert.equal(said, 'verified')
    assert.deepEqual(asked, ['https://production.plaid.com/webhook_verification_key/get'])
    const kid = 'bfbd5111-8e33-4643-8ced-b2e642a72f3c'
    assert.deepEqual(JSON.parse(bodies[0]!), { client_id: 'client', secret: 'plaid-api-secret', key_id: kid })
    const sandbox = await ask(answer, { environment: 'sandbox' })
    assert.deepEqual(sandbox.asked, ['https://sandbox.plaid.com/webhook_verification_key/get'])
  })

  test('a key that has expired, or another one than was asked for, verifies nothing', async () => {
    const { key } = JSON.parse(answer)
    for (const change of [{ expired_at: '2020-01-01T00:00:00Z' }, { kid: 'another' }]) {
      const { said } = await ask(JSON.stringify({ key: { ...key, ...change } }))
      assert.equal(said, 'refused', JSON.stringify(change))
    }
    assert.equal((await ask(null)).said, 'refused')
    assert.equal((await ask('no json')).said, 'refused')
  })
})
