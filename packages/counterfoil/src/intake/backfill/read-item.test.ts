import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { QuarantineReason } from '../../store/index.ts'
import { kindOf, serverOf, type Vector, vectorNames, vectorsOf } from '../fixtures/vectors.ts'
import { producer } from '../producer.ts'
import type { ProducerKind } from '../producer-kind.ts'
import { type ReadItem, readItem } from './read-item.ts'

const tenYearsMs = 315_000_000_000

const ports = (now: number) => ({
  types: new Map(),
  clock: { now: () => now, after: () => () => {} },
  random: { bytes: (count: number) => new Uint8Array(count), fraction: () => 0 },
})

interface About {
  readonly now?: number
  readonly vector?: Vector
}

async function read(
  kind: ProducerKind,
  source: 'events' | 'requests',
  bytes: Uint8Array | null,
  { now = 0, vector }: About = {},
): Promise<ReadItem> {
  // As in vectors/README.md: where the request was sent to.
  const publicUrl = vector?.config.publicUrl ?? vector?.request.url.replace(/[?#].*$/, '')
  const of = producer('p', kind, publicUrl === undefined ? {} : { publicUrl })
  const { keys } = serverOf(vector ?? ({} as Vector), kind.keyHosts)
  const gate = { producer: of, keys, rate: null, methods: [], allow: 'POST' }
  const item = { place: 'item 1', bytes, digest: new Uint8Array(32), next: { at: 1, before: 1 } }
  return await readItem(ports(now), gate, { source, origin: 'backfill/test' }, item)
}

/** The first vector of this name that brings an event, at its time. */
async function vectorWithEvent(name: string): Promise<Vector> {
  for (const vector of vectorsOf(name)) {
    if (vector.expect !== 'accept' || vector.request.method !== 'POST') continue
    const now = vector.now * 1_000
    const seen = await read(kindOf[name]!(vector.config), 'requests', stored(vector), { now, vector })
    if (seen.kind === 'events' && seen.events.length > 0) return vector
  }
  throw new Error(`no vector of ${name} brings an event`)
}

function stored({ request }: Vector, change: (body: Buffer) => Buffer = (body) => body): Buffer {
  const { pathname, search } = new URL(request.url)
  const headers = Object.entries(request.headers).filter(([name]) => name.toLowerCase() !== 'content-length')
  const head = [`${request.method} ${pathname}${search} HTTP/1.1`, ...headers.map((pair) => pair.join(': '))]
  const body = change(Buffer.from(request.bodyBase64, 'base64'))
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

describe('a stored request of each kind', () => {
  for (const name of vectorNames) {
    test(`${name}: ten years later it is what it was, and the receipt says what was waived`, async () => {
      const vector = await vectorWithEvent(name)
      const at = (now: number) =>
        read(kindOf[name]!(vector.config), 'requests', stored(vector), { now, vector })
      const [then, later] = [await at(vector.now * 1_000), await at(vector.now * 1_000 + tenYearsMs)]
      assert.ok(then.kind === 'events' && later.kind === 'events', JSON.stringify(later))
      const identities = ({ events }: typeof then) =>
        events.map(({ receipt: { delivery, fingerprint, type } }) => [delivery, fingerprint, type])
      assert.deepEqual(identities(later), identities(then))
      for (const { receipt } of later.events)
        assert.deepEqual([receipt.origin, receipt.waived], ['backfill/test', 'freshness'])
    })

    test(`${name}: without what vouches for it, it is refused however old it is`, async () => {
      const vector = await vectorWithEvent(name)
      const kind = kindOf[name]!(vector.config)
      const { headers, url } = vector.request
      // Everything that may carry a signature or a credential, but the type of the content.
      const bare = Object.keys(headers).filter((header) => /^content-type$/i.test(header))
      const request = {
        ...vector.request,
        url: url.replace(/\?.*$/, ''),
        headers: Object.fromEntries(bare.map((header) => [header, headers[header]!])),
        bodyBase64: Buffer.from('{"id":"evt_1","type":"invoice.paid"}').toString('base64'),
      }
      for (const ms of [0, tenYearsMs]) {
        const now = vector.now * 1_000 + ms
        const seen = await read(kind, 'requests', stored({ ...vector, request }), { now, vector })
        assert.equal(seen.kind, 'fault', JSON.stringify(seen))
      }
    })
  }
})

describe('a stored request whose body was altered', () => {
  for (const name of ['stripe', 'github', 'plaid', 'slack', 'standard-webhooks', 'shopify', 'aws-sns'])
    test(`${name}: is refused however old it is`, async () => {
      const vector = await vectorWithEvent(name)
      const text = String(Buffer.from(vector.request.bodyBase64, 'base64'))
      // Inside a value, where the body has any: SNS signs values and not bytes.
      const other = text.includes(':"') || text.includes(': "') ? text.replace(/:\s*"/, ':"x') : `${text}x`
      const altered = stored(vector, () => Buffer.from(other))
      for (const ms of [0, tenYearsMs]) {
        const now = vector.now * 1_000 + ms
        const seen = await read(kindOf[name]!(vector.config), 'requests', altered, { now, vector })
        assert.deepEqual([seen.kind, (seen as { figure: string }).figure], ['fault', 'refused'])
      }
    })
})

describe('an event that nobody signed', () => {
  const stripe = kindOf.stripe!({ secrets: 'whsec_of_this_test' })
  const github = kindOf.github!({ secrets: 'a secret of this test' })
  const event = { id: 'evt_1', type: 'invoice.paid', created: 1_700_000_000, data: { object: { n: 1 } } }
  const line = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  const only = (seen: ReadItem) => {
    assert.equal(seen.kind, 'events', JSON.stringify(seen))
    const { events } = seen as Extract<ReadItem, { kind: 'events' }>
    assert.equal(events.length, 1)
    return events[0]!
  }

  test('has the identity that a delivery of it has, and a receipt that says who vouches', async () => {
    const { receipt } = only(await read(stripe, 'events', line(event)))
    assert.deepEqual(
      [receipt.eventId, receipt.type, receipt.eventAt, receipt.waived, receipt.origin],
      ['evt_1', 'invoice.paid', 1_700_000_000_000, 'signature', 'backfill/test'],
    )
  })

  test('stands beside its headers where its producer puts id and type there', async () => {
    const headers = { 'X-GitHub-Event': 'issues', 'X-GitHub-Delivery': 'd-1' }
    const { receipt, body } = only(await read(github, 'events', line({ headers, payload: { n: 1 } })))
    assert.deepEqual([receipt.eventId, receipt.type, String(body)], ['d-1', 'issues', '{"n":1}'])
    const bare = await read(github, 'events', line({ n: 1 }))
    assert.deepEqual([bare.kind, (bare as { figure: string }).figure], ['fault', 'refused'])
  })

  test('is the payload itself where it has more members than headers and payload', async () => {
    const value = { ...event, headers: {}, payload: {} }
    assert.equal(only(await read(stripe, 'events', line(value))).receipt.eventId, 'evt_1')
  })

  test('is malformed where it is no JSON, and quarantined where JSON cannot carry it', async () => {
    for (const text of ['{"a":', 'no', '[1] 2', '\u0000'])
      assert.equal(((await read(stripe, 'events', line(text))) as { figure: string }).figure, 'malformed')
    assert.equal(((await read(stripe, 'events', null)) as { figure: string }).figure, 'malformed')
    const twice = only(await read(stripe, 'events', line('{"id":"a","id":"b"}')))
    const reason: QuarantineReason = 'not-representable'
    assert.equal(twice.fit.kind === 'quarantine' && twice.fit.reason, reason)
  })

  test('of a batch each element is an event', async () => {
    const sendgrid = vectorsOf('sendgrid').find(({ expect }) => expect === 'accept')!
    const kind = kindOf.sendgrid!(sendgrid.config)
    const batch = [1, 2].map((n) => ({ sg_event_id: `e-${n}`, event: 'open', timestamp: 1_700_000_000 }))
    const seen = await read(kind, 'events', line(batch))
    assert.equal((seen as Extract<ReadItem, { kind: 'events' }>).events.length, 2)
  })
})
