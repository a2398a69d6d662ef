import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { ResolveName } from './connector.ts'
import { answer, rawServer } from './fixtures/raw-server.ts'
import { isPrivateAddress } from './private-address.ts'
import { undiciNetwork } from './undici-network.ts'

const refused = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200', '100.127.255.255'],
  ...['127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['192.0.0.8', '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.9'],
  ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '::127.0.0.1'],
  ...['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '100::1', 'fc00::1', 'fd00:ec2::254', 'fdff::1'],
  ...['fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1', 'ff02::1', '2001::1', '2001:10::1', '2001:db8::1'],
  ...['2002:7f00:1::1', '3fff::1', '5f00::1', '4000::1'],
  ...['', 'localhost', '127.1', '2130706433', '0x7f000001', '[::1]', '8.8.8.8.', '8.8.8.8 '],
]
const allowed = [
  ...[
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
  ],
  ...[
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
  ],
  ...[
    '223.255.255.255',
    '168.63.129.15',
    '2606:4700::1111',
    '2a00:1450:4001::1',
    '2001:200::1',
    '2001:4860::8888',
    '3ffe::1',
  ],
]

describe('isPrivateAddress', () => {
  for (const address of refused)
    test(`refuses '${address}'`, () => assert.equal(isPrivateAddress(address), true))
  for (const address of allowed)
    test(`allows ${address}`, () => assert.equal(isPrivateAddress(address), false))

  test('no IPv4 address gets through inside an IPv6 one', () => {
    fc.assert(
      fc.property(
        fc.ipV4(),
        fc.constantFrom('::ffff:', '::', '64:ff9b::', '64:ff9b:1::', '::ffff:0:'),
        (ipv4, prefix) => isPrivateAddress(prefix + ipv4),
      ),
    )
  })
})

describe('a recipient that may not have a private address', () => {
  async function ask(t: TestContext, url: URL, resolveName?: ResolveName) {
    const network = undiciNetwork(resolveName === undefined ? {} : { resolveName })
    t.after(() => network.close())
    const request = { url, method: 'POST', headers: {}, body: null, timeoutMs: 60_000, maxAnswerBytes: 100 }
    return await network.send({ ...request, allowPrivateAddresses: false }, new AbortController().signal)
  }

  const spellings = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127。0。0。1',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ]
  for (const host of [...spellings, 'localhost']) {
    test(`is not sent to ${host}`, async (t) => {
      const server = await rawServer(t)
      const exchange = await ask(t, server.url('/', host))
      assert.equal(exchange.kind, 'notSent')
      assert.match(exchange.kind === 'notSent' ? exchange.why : '', /^address_refused: /)
      assert.equal(server.connections.length, 0)
    })
  }

  test('is not sent where its name leads to private addresses only', async (t) => {
    const server = await rawServer(t)
    const addresses = [
      { address: '127.0.0.1', family: 4 },
      { address: '10.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]
    const exchange = await ask(t, server.url('/', 'api.example'), (_, __, callback) =>
      callback(null, addresses),
    )
    assert.deepEqual(exchange, {
      kind: 'notSent',
      why: 'address_refused: api.example leads to 127.0.0.1, 10.0.0.1, ::1, which is not a public address',
    })
    assert.equal(server.connections.length, 0)
  })

  test('asks the resolver once for a connection, so a second answer cannot lead elsewhere', async (t) => {
    const server = await rawServer(t)
    let asked = 0
    await ask(t, server.url('/', 'api.example'), (_, __, callback) => {
      asked++
      // Something public for a first question would be connected to; here the only question gets loopback.
      callback(null, [{ address: '127.0.0.1', family: 4 }])
    })
    assert.equal(asked, 1)
    assert.equal(server.connections.length, 0)
  })

  test('does not borrow the open connection of one that may', async (t) => {
    const server = await rawServer(t, { onRequest: (socket) => void socket.write(answer(200)) })
    const network = undiciNetwork()
    t.after(() => network.close())
    const request = {
      url: server.url(),
      method: 'POST',
      headers: {},
      body: null,
      timeoutMs: 60_000,
      maxAnswerBytes: 100,
    }
    const { signal } = new AbortController()
    assert.equal((await network.send({ ...request, allowPrivateAddresses: true }, signal)).kind, 'answered')
    assert.equal((await network.send({ ...request, allowPrivateAddresses: false }, signal)).kind, 'notSent')
    assert.equal(server.seen.length, 1)
  })
})
