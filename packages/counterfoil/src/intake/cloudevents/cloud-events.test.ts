import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonValue } from '../../domain/index.ts'
import { readEvent } from '../event.ts'
import { acceptAll, now, problemOf, testIntake, vault } from '../fixtures/intake.ts'
import { eventTypes, producer } from '../producer.ts'
import { cloudEvents } from './cloud-events.ts'
import { batchMessage, batchType, binaryMessage, structuredMessage, structuredType } from './modes.ts'
import { signatureHeader, signCloudEvent } from './signing.ts'

const token = 'a-token-that-only-tests-know'
const events = producer('events', cloudEvents({ tokens: token }))
const type = 'com.example.someevent'

const intake = (made = events) => testIntake(acceptAll, { producers: [made], types: [made.event(type)] })

function request(
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  path = 'events',
): Request {
  return new Request(`http://receiver.test/in/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: typeof body === 'string' ? Buffer.from(body) : (body as Uint8Array<ArrayBuffer>),
  })
}

const structured = (event: object | string) =>
  request({ 'content-type': structuredType }, typeof event === 'string' ? event : JSON.stringify(event))
const core = { specversion: '1.0', type, source: '/mycontext', id: 'A-1' }
const coreHeaders = { 'ce-specversion': '1.0', 'ce-type': type, 'ce-source': '/mycontext', 'ce-id': 'A-1' }

/** The examples of the JSON format, section 3.2: an event, the same in binary mode, and what a trigger gets. */
const examples: readonly [object, Record<string, string>, string | Uint8Array, JsonValue][] = [
  [
    { datacontenttype: 'application/vnd.example.binary', data_base64: 'AAEC/w==' },
    { 'content-type': 'application/vnd.example.binary' },
    new Uint8Array([0, 1, 2, 255]),
    { data_base64: 'AAEC/w==' },
  ],
  [
    { unsetextension: null, datacontenttype: 'application/xml', data: '<much wow="xml"/>' },
    { 'content-type': 'application/xml' },
    '<much wow="xml"/>',
    '<much wow="xml"/>',
  ],
  [
    { subject: null, datacontenttype: 'application/json', data: { a: 'abc', b: 123, c: true } },
    { 'content-type': 'application/json' },
    '{ "a" : "abc", "b" : 123, "c" : true }',
    { a: 'abc', b: 123, c: true },
  ],
  [
    { datacontenttype: 'application/vnd.x+json; v=1', data: 1.5 },
    { 'content-type': 'application/vnd.x+json; v=1' },
    '1.5',
    1.5,
  ],
  [
    { data: "I'm just a string" },
    { 'content-type': 'application/json' },
    '"I\'m just a string"',
    "I'm just a string",
  ],
  [{ data: null }, { 'content-type': 'application/json' }, 'null', null],
  [{ data_base64: 'eyAieHl6IjogMTIzIH0=' }, {}, '{ "xyz": 123 }', { data_base64: 'eyAieHl6IjogMTIzIH0=' }],
  [
    { datacontenttype: 'application/json', data_base64: 'eyAieHl6IjogMTIzIH0=' },
    { 'content-type': 'application/json' },
    '{"xyz":123}',
    { xyz: 123 },
  ],
  [{ datacontenttype: 'application/json' }, { 'content-type': 'application/json' }, '', null],
]

describe('the examples of the specification', () => {
  for (const [members, headers, body, data] of examples) {
    test(`${JSON.stringify(members)} is the same event in structured, binary and batched mode`, async () => {
      const { receive, entries } = intake()
      const event = { ...core, time: '2018-04-05T17:31:00Z', comexampleothervalue: 5, ...members }
      const more = { 'ce-time': '2018-04-05T17:31:00Z', 'ce-comexampleothervalue': '5' }
      const sent = [
        structured(event),
        request({ ...coreHeaders, ...more, ...headers }, body),
        request({ 'content-type': batchType }, JSON.stringify([event])),
      ]
      for (const one of sent) assert.equal((await receive(one)).status, 202)
      assert.equal(new Set(entries.map(({ receipt }) => receipt.delivery)).size, 1)
      assert.equal(new Set(entries.map(({ receipt }) => receipt.fingerprint)).size, 1)
      for (const { receipt, payload } of entries) {
        assert.deepEqual(
          [receipt.source, receipt.eventId, receipt.type, receipt.schemaVersion, receipt.eventAt],
          ['/mycontext', 'A-1', type, null, Date.parse('2018-04-05T17:31:00Z')],
        )
        assert.equal(receipt.contentType, structuredType)
        const kept = vault.open(payload, receipt.id)
        const read = await readEvent(
          new Map([['events', events]]),
          eventTypes([events.event(type)]),
          receipt as never,
          kept,
        )
        assert.deepEqual(read.kind === 'event' ? read.event.data : read, data)
      }
    })
  }

  test('a structured body is kept as it came', async () => {
    const { receive, entries } = intake()
    const body = `{ "specversion" : "1.0", "type" : "${type}", "source":"/s", "id" : "1", "flag": true }`
    await receive(structured(body))
    assert.equal(Buffer.from(vault.open(entries[0]!.payload, entries[0]!.receipt.id)).toString(), body)
  })

  test('dataschema is the version', async () => {
    const { receive, entries } = intake()
    await receive(structured({ ...core, dataschema: 'https://example.com/schema/2' }))
    assert.equal(entries[0]!.receipt.schemaVersion, 'https://example.com/schema/2')
  })
})

describe('an event that is none', () => {
  const broken: Record<string, object> = {
    'without an id': { id: undefined },
    'with an empty id': { id: '' },
    'with a number as its id': { id: 1 },
    'with an id that is null': { id: null },
    'without a source': { source: undefined },
    'with a source that is no reference': { source: 'a b' },
    'with a broken escape in its source': { source: '/%zz' },
    'without a type': { type: undefined },
    'of another version': { specversion: '0.3' },
    'with a version that is a number': { specversion: 1 },
    'with a name in capitals': { comExample: 'x' },
    'with a name that has a dash': { 'com-example': 'x' },
    'with an empty name': { '': 'x' },
    'with a name that an object has anyway': { __proto__: null, 'com.constructor': 'x' },
    'with an object as an attribute': { ext: {} },
    'with a list as an attribute': { ext: [] },
    'with a fraction as an attribute': { ext: 1.5 },
    'with a number beyond 32 bits': { ext: 2_147_483_648 },
    'with a control character in an attribute': { ext: 'a\u0007b' },
    'with a C1 control character in its id': { id: 'a\u0085b' },
    'with a noncharacter': { ext: '\uffff' },
    'with data twice': { data: 1, data_base64: 'AA==' },
    'with base64 that is none': { data_base64: 'A' },
    'with base64 of another alphabet': { data_base64: '_-8=' },
    'with base64 that is a number': { data_base64: 5 },
    'with a time that is none': { time: 'yesterday' },
    'with a time without offset': { time: '2018-04-05T17:31:00' },
    'with an empty subject': { subject: '' },
    'with a schema that is no URI': { dataschema: 'v2' },
    'with a content type that is none': { datacontenttype: 'json' },
    'with an empty sequence': { sequence: '' },
    'with an empty partition key': { partitionkey: '' },
  }
  for (const [what, members] of Object.entries(broken)) {
    test(`${what} is refused, and in a batch waits in quarantine beside the others`, async () => {
      const { receive, entries } = intake()
      const event = { ...core, ...members }
      const single = await receive(structured(event))
      assert.equal(single.status, 400)
      assert.equal((await problemOf(single)).code, 'syntax_invalid')
      assert.equal(entries.length, 0)
      const batch = await receive(request({ 'content-type': batchType }, JSON.stringify([event, core])))
      assert.equal(batch.status, 202)
      assert.deepEqual(
        entries.map(({ next }) => next.kind),
        ['quarantine', 'plan'],
      )
    })
  }

  test('bodies of other shapes, and batches that are none', async () => {
    const { receive, entries } = intake()
    for (const body of ['[]', '1', 'null', '"x"', '{}', '{', '']) {
      assert.equal((await receive(structured(body))).status, body === '[]' ? 200 : 400, body)
    }
    for (const body of ['{}', '1', '{']) {
      assert.equal((await receive(request({ 'content-type': batchType }, body))).status, 400, body)
    }
    assert.equal(entries.length, 0)
  })

  test('binary mode without its headers, or with headers that are none', async () => {
    const { receive } = intake()
    const json = { 'content-type': 'application/json' }
    for (const [name, value] of [
      ['ce-id', ''],
      ['ce-id', '%ff'],
      ['ce-id', '%0a'],
      ['ce-specversion', '0.3'],
      ['ce-datacontenttype', 'text/plain'],
      ['ce-data', 'x'],
      ['ce-a-b', 'x'],
      ['ce-', 'x'],
    ] as const) {
      const response = await receive(request({ ...coreHeaders, ...json, [name]: value }, '{}'))
      assert.equal(response.status, 400, name)
    }
    assert.equal((await receive(request(json, '{}'))).status, 400)
    assert.equal((await receive(request({ ...coreHeaders, ...json }, '{'))).status, 400)
  })

  test('a format that is not JSON is not understood', async () => {
    const { receive } = intake()
    for (const contentType of ['application/cloudevents+avro', 'application/cloudevents-batch+protobuf']) {
      assert.equal((await receive(request({ 'content-type': contentType }, 'x'))).status, 415)
    }
  })

  test('data that JSON cannot carry faithfully is kept in quarantine, in every mode', async () => {
    const { receive, entries } = intake()
    const large = '{"n":9007199254740993}'
    await receive(request({ ...coreHeaders, 'content-type': 'application/json' }, large))
    await receive(structured(JSON.stringify(core).replace('}', `,"data":${large}}`)))
    assert.deepEqual(
      entries.map(({ next }) => next.kind === 'quarantine' && next.quarantine.reason),
      ['not-representable', 'not-representable'],
    )
  })
})

describe('attributes beside the data', () => {
  test('an extension may have any name, also one that objects have anyway', async () => {
    const { receive, entries } = intake()
    for (const name of ['constructor', 'wrong', 'kind', 'event', 'tostring', 'a'.repeat(60)]) {
      assert.equal((await receive(structured({ ...core, [name]: 'x' }))).status, 202, name)
    }
    assert.equal(entries.length, 6)
  })

  test('are given to triggers that ask for the whole event', async () => {
    const made = producer('events', cloudEvents({ tokens: token, gives: 'event' }))
    const { data } = made.kind
    const event = { ...core, sequence: '000042', partitionkey: 'customer/7', data: { a: 1 } }
    assert.deepEqual(data(event), { ...event, datacontenttype: 'application/json' })
    assert.deepEqual(events.kind.data(event), { a: 1 })
  })
})

describe('who may send', () => {
  const sign = (secret: string, at: number, message = binaryMessage({ ...core, data: { a: 1 } } as never)) =>
    request(signCloudEvent(message, secret, at), message.body)
  const status = async (options: Parameters<typeof cloudEvents>[0], sent: Request) => {
    const { receive, entries } = intake(producer('events', cloudEvents(options)))
    const response = await receive(sent)
    assert.equal(entries.length, response.status === 202 ? 1 : 0)
    return response.status
  }
  const plain = (headers: Record<string, string>, query = '') =>
    new Request(`http://receiver.test/in/events${query}`, {
      method: 'POST',
      headers: { ...coreHeaders, 'content-type': 'application/json', ...headers },
      body: '{}',
    })

  test('a signature covers headers, content type, body and time', async () => {
    const secrets = ['the old secret', 'the new secret']
    for (const secret of secrets) assert.equal(await status({ secrets }, sign(secret, now)), 202)
    assert.equal(await status({ secrets }, sign('another', now)), 401)
    assert.equal(await status({ secrets }, sign(secrets[0]!, now - 301)), 401)
    assert.equal(await status({ secrets }, sign(secrets[0]!, now + 301)), 401)
    for (const [name, value] of [
      ['ce-id', 'A-2'],
      ['ce-source', '/other'],
      ['ce-type', 'other'],
      ['ce-extra', 'x'],
      ['content-type', 'application/vnd.other+json'],
      [signatureHeader, `t=${now}`],
      [signatureHeader, ''],
    ] as const) {
      const changed = sign(secrets[0]!, now)
      changed.headers.set(name, value)
      assert.equal(await status({ secrets }, changed), 401, name)
    }
    const message = structuredMessage(core as never)
    const headers = signCloudEvent(message, secrets[0]!, now)
    assert.equal(await status({ secrets }, request(headers, message.body)), 202)
    assert.equal(
      await status({ secrets }, request(headers, Buffer.concat([message.body, Buffer.from(' ')]))),
      401,
    )
    assert.equal(await status({ secrets }, request(message.headers, message.body)), 401)
  })

  test('a bearer token in the header or in the query, and not in both', async () => {
    const tokens = ['t0k-en_1', token]
    assert.equal(await status({ tokens }, plain({ authorization: 'Bearer t0k-en_1' })), 202)
    assert.equal(await status({ tokens }, plain({ authorization: 'bearer t0k-en_1' })), 202)
    assert.equal(await status({ tokens }, plain({}, '?access_token=t0k-en_1')), 202)
    assert.equal(await status({ tokens }, plain({}, '?access_token=t0k-en_2')), 401)
    assert.equal(await status({ tokens }, plain({ authorization: 'Bearer t0k-en_2' })), 401)
    assert.equal(await status({ tokens }, plain({ authorization: 'Basic t0k-en_1' })), 401)
    assert.equal(
      await status({ tokens }, plain({ authorization: 'Bearer t0k-en_1' }, '?access_token=x')),
      401,
    )
    assert.equal(await status({ tokens }, plain({})), 401)
  })

  test('a user and password', async () => {
    const credentials = 'user:pass:word'
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
    assert.equal(await status({ credentials }, plain(basic('user:pass:word'))), 202)
    assert.equal(await status({ credentials }, plain(basic('user:pass'))), 401)
    assert.equal(await status({ credentials }, plain({})), 401)
  })

  test('anybody, only where that is said', async () => {
    assert.equal(await status({ anyone: true }, plain({})), 202)
    for (const options of [
      {},
      { secrets: 'a', tokens: 'b' },
      { anyone: true, tokens: 'b' },
      { secrets: '' },
    ]) {
      assert.throws(() => cloudEvents(options as never), { code: 'config_invalid' }, JSON.stringify(options))
    }
  })

  test('what covers the identity says so, and the content is compared where nothing does', () => {
    assert.equal(cloudEvents({ secrets: 'x' }).provenance, 'signed')
    for (const options of [{ tokens: 'x' }, { credentials: 'u:p' }, { anyone: true as const }]) {
      assert.equal(cloudEvents(options).provenance, 'unsigned')
    }
  })
})

describe('abuse protection', () => {
  const options = (headers: Record<string, string>) =>
    new Request('http://receiver.test/in/events', { method: 'OPTIONS', headers })
  const origin = { 'webhook-request-origin': 'EventEmitter.example.com' }
  const guarded = (allowedRate?: number) =>
    intake(
      producer(
        'events',
        cloudEvents({
          tokens: token,
          allowedOrigins: ['eventemitter.example.com'],
          ...(allowedRate === undefined ? {} : { allowedRate }),
        }),
      ),
    )

  test('a known sender gets consent, at the rate he asks for or the lower one that is allowed', async () => {
    for (const [allowed, asked, told] of [
      [undefined, '120', '120'],
      [100, '120', '100'],
      [100, '60', '60'],
      [100, undefined, '100'],
      [undefined, undefined, '*'],
      [undefined, 'fast', '*'],
      [undefined, '-1', '*'],
    ] as const) {
      const { receive, entries } = guarded(allowed)
      const response = await receive(
        options({ ...origin, ...(asked === undefined ? {} : { 'webhook-request-rate': asked }) }),
      )
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('webhook-allowed-origin'), 'EventEmitter.example.com')
      assert.equal(response.headers.get('webhook-allowed-rate'), told)
      assert.equal(response.headers.get('allow'), 'POST')
      assert.equal(entries.length, 0)
    }
  })

  test('a stranger, a browser and an endpoint without the feature give none', async () => {
    for (const [made, headers] of [
      [guarded(), { 'webhook-request-origin': 'evil.example' }],
      [guarded(), { origin: 'https://eventemitter.example.com', 'access-control-request-method': 'POST' }],
      [intake(), origin],
    ] as const) {
      const response = await made.receive(options(headers))
      assert.ok(response.status >= 400)
      assert.equal(response.headers.get('webhook-allowed-origin'), null)
    }
  })

  test('deliveries carry the origin that was agreed on', async () => {
    const { receive } = guarded()
    const body = JSON.stringify(core)
    const json = { 'content-type': structuredType }
    assert.equal((await receive(request({ ...json, ...origin }, body))).status, 202)
    assert.equal((await receive(request(json, body))).status, 401)
  })
})

test('what is written in each mode is read as the event that it was', async () => {
  const event = { ...core, subject: 'größe "1"', sequence: '7', data: { a: [1, 'ü'] } } as never
  const { receive, entries } = intake()
  for (const message of [binaryMessage(event), structuredMessage(event), batchMessage([event])]) {
    assert.equal((await receive(request(message.headers, message.body))).status, 202)
  }
  assert.equal(new Set(entries.map(({ receipt }) => receipt.fingerprint)).size, 1)
})
