import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HTTP, CloudEvent as OfficialEvent } from 'cloudevents'
import fc from 'fast-check'
import { deliveryOf } from '../fixtures/senders.ts'
import type { CloudEvent } from './cloud-event.ts'
import { cloudEvents } from './cloud-events.ts'
import { batchMessage, binaryMessage, structuredMessage } from './modes.ts'

/** The official package writes, we read; we write, it reads. Where it leaves the specification, we do not follow. */

const kind = cloudEvents({ anyone: true, gives: 'event' })

/** The package writes header values as they are; the specification wants blanks, quotes, % and the rest encoded. */
const plainText = fc.stringMatching(/^[!#$&-~]{1,20}$/)
const anyText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
const reference = fc.stringMatching(/^\/[a-z0-9._~-]{0,12}(?:\?[a-z=&]{1,6})?$/)
const name = fc.stringMatching(/^[a-z][a-z0-9]{3,12}$/).filter((one) => !taken.has(one))
const taken = new Set([
  'specversion',
  'type',
  'source',
  'subject',
  'time',
  'dataschema',
  'datacontenttype',
  'data',
])

const json = fc.oneof(
  fc.dictionary(plainText, fc.oneof(fc.integer(), fc.string(), fc.boolean()), { noNullPrototype: true }),
  fc.array(fc.integer()),
)
const eventWith = (text: fc.Arbitrary<string>) =>
  fc
    .record(
      {
        id: text,
        source: reference,
        type: text,
        subject: text,
        time: fc
          .date({ min: new Date('1970-01-01'), max: new Date('2099-01-01'), noInvalidDate: true })
          .map((date) => date.toISOString()),
        extensions: fc.dictionary(
          name,
          fc.oneof(text, fc.boolean(), fc.integer({ min: -5, max: 2 ** 31 - 1 })),
        ),
        data: json,
      },
      { requiredKeys: ['id', 'source', 'type', 'extensions', 'data'] },
    )
    .map(({ extensions, ...event }) => ({ ...event, ...extensions }))

/** As we read a message that the package wrote. */
function read(message: { headers: Record<string, unknown>; body: unknown }) {
  const headers = Object.fromEntries(
    Object.entries(message.headers).map(([header, value]) => [header.toLowerCase(), String(value)]),
  )
  const body =
    typeof message.body === 'string' ? message.body : Buffer.from((message.body ?? '') as Uint8Array)
  const delivery = deliveryOf(headers, body)
  const mediaType = headers['content-type']?.split(';')[0] ?? ''
  const reading = kind.read!(delivery, mediaType, 'double')
  assert.equal(reading?.kind, 'read')
  const value = reading?.kind === 'read' ? reading.value : null
  const { wrong, ...facts } = kind.facts(value, delivery)
  assert.equal(wrong, undefined)
  return { facts, event: kind.data(value) as unknown as CloudEvent }
}

/** Attributes as their canonical texts. */
const texts = (event: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(event).map(([key, value]) => [key, key === 'data' ? value : String(value)]),
  )

describe('what the official package writes is read as it was', () => {
  test('in binary mode', () => {
    fc.assert(
      fc.property(eventWith(plainText), (given) => {
        const { facts, event } = read(HTTP.binary(new OfficialEvent(given)) as never)
        const { time, ...rest } = texts(given)
        assert.deepEqual([facts.id, facts.source, facts.type], [given.id, given.source, given.type])
        for (const [key, value] of Object.entries(rest)) assert.deepEqual(event[key], value, key)
        if (time !== undefined) assert.equal(Date.parse(event.time!), Date.parse(time as string))
      }),
    )
  })

  test('in structured mode, with any text', () => {
    fc.assert(
      fc.property(eventWith(anyText), (given) => {
        fc.pre(!/[\p{Cc}\p{Noncharacter_Code_Point}]/u.test(JSON.stringify(given)))
        const { event } = read(HTTP.structured(new OfficialEvent(given)) as never)
        const { time, ...rest } = texts(given)
        for (const [key, value] of Object.entries(rest)) assert.deepEqual(event[key], value, key)
        if (time !== undefined) assert.equal(Date.parse(event.time!), Date.parse(time as string))
      }),
    )
  })

  test('bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 50 }), (bytes) => {
        const given = {
          id: '1',
          source: '/s',
          type: 't',
          datacontenttype: 'application/octet-stream',
          data: bytes,
        }
        const { event } = read(HTTP.structured(new OfficialEvent(given)) as never)
        assert.equal(event.data_base64, Buffer.from(bytes).toString('base64'))
      }),
    )
  })
})

describe('what we write is read by the official package as it was', () => {
  const ours = (given: object) => ({ specversion: '1.0', ...texts(given as never) }) as unknown as CloudEvent
  const official = (message: ReturnType<typeof binaryMessage>) =>
    HTTP.toEvent({ headers: { ...message.headers }, body: Buffer.from(message.body).toString() } as never)
  const same = (event: OfficialEvent<unknown>, given: Record<string, unknown>) => {
    for (const [key, value] of Object.entries(texts(given))) {
      const seen = event[key]
      if (key === 'time') assert.equal(Date.parse(seen as string), Date.parse(value as string))
      else assert.deepEqual(key === 'data' ? seen : String(seen), value, key)
    }
  }

  test('in binary mode', () => {
    fc.assert(
      fc.property(eventWith(plainText), (given) => {
        same(official(binaryMessage(ours(given))) as OfficialEvent<unknown>, given)
      }),
    )
  })

  test('in structured and batched mode', () => {
    fc.assert(
      fc.property(eventWith(plainText), eventWith(plainText), (one, other) => {
        same(official(structuredMessage(ours(one))) as OfficialEvent<unknown>, one)
        const [first, second] = official(batchMessage([ours(one), ours(other)])) as OfficialEvent<unknown>[]
        same(first!, one)
        same(second!, other)
      }),
    )
  })
})
