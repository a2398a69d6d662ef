import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { JsonReading } from '../domain/index.ts'
import { acceptedType, readPayload } from './payload.ts'
import type { ProducerKind } from './producer.ts'
import { github } from './producers/index.ts'

const json = ['application/json']
const form = 'application/x-www-form-urlencoded'
const read = (mediaType: string, body: string | Uint8Array, holds?: ProducerKind['form']) =>
  readPayload(
    {
      numbers: 'double',
      kind: { ...github({ secrets: 'x' }), ...(holds === undefined ? {} : { form: holds }) },
    },
    mediaType,
    typeof body === 'string' ? Buffer.from(body) : body,
  ) as JsonReading

describe('content types', () => {
  test('case, blanks and a UTF-8 charset make no difference', () => {
    for (const header of [
      'application/json',
      'Application/JSON',
      'application/json;charset=utf-8',
      'application/json; charset="UTF-8"',
      'application/json ; charset=utf8',
      'application/json; profile=x; charset=utf-8',
    ]) {
      assert.equal(acceptedType(json, header), 'application/json', header)
    }
  })

  test('another type, another charset or none at all is not what this producer sends', () => {
    for (const header of [
      null,
      '',
      'text/plain',
      'application/json; charset=utf-16',
      'application/json; charset=iso-8859-1',
      'application/json, application/json',
      'application/cloudevents+json',
      'application/jsonp',
      'application',
      form,
    ]) {
      assert.equal(acceptedType(json, header), null, String(header))
    }
  })

  test('none at all and +json types are accepted where the producer lists them', () => {
    const listed = ['application/json', 'application/vnd.x+json', '']
    assert.equal(acceptedType(listed, null), '')
    assert.equal(acceptedType(listed, 'application/vnd.x+json; charset=utf-8'), 'application/vnd.x+json')
    assert.equal(acceptedType(listed, 'application/vnd.y+json'), null)
  })
})

describe('forms', () => {
  test('any JSON comes through a form as it was', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        for (const body of [
          new URLSearchParams({ payload: text }).toString(),
          `payload=${encodeURIComponent(text)}`,
          `a=1&payload=${encodeURIComponent(text)}&b=2`,
        ]) {
          assert.deepEqual(read(form, body), read('application/json', text))
        }
      }),
    )
  })

  test('a form without the member, with two, or with broken escapes is a syntax error', () => {
    for (const body of [
      '',
      'a=1',
      'payload',
      'Payload=1',
      'payload=1&payload=2',
      'payload=%',
      'payload=%zz',
      'payload=%4',
      'payload=%+1',
    ]) {
      assert.equal(read(form, body).kind, 'syntax', body)
    }
  })

  test('bytes that are not UTF-8 are told and never replaced, escaped or not', () => {
    assert.equal(read(form, 'payload="%ff"').kind, 'syntax')
    assert.equal(read(form, Buffer.from('payload="\xff"', 'latin1')).kind, 'syntax')
    assert.deepEqual(read(form, 'payload="%C3%bc"'), { kind: 'read', value: 'ü' })
  })

  test('a view into a larger buffer is read within its bounds', () => {
    const pool = Buffer.from('payload=2&payload=1&x')
    assert.deepEqual(read(form, pool.subarray(10, 19)), { kind: 'read', value: 1 })
  })
})

describe('forms of fields', () => {
  const fields = (body: string | Uint8Array, holds: ProducerKind['form'] = 'fields') =>
    read(form, body, holds)

  test('any fields come as the platform’s own encoder wrote them; of one name, all in their order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }))),
        (given) => {
          const wanted = Object.fromEntries(
            Object.entries(Object.groupBy(given, ([name]) => name)).map(([name, all]) => {
              const values = all!.map(([, value]) => value)
              return [name, values.length === 1 ? values[0]! : values]
            }),
          )
          const body = new URLSearchParams(given).toString()
          assert.deepEqual(fields(body), { kind: 'read', value: wanted })
        },
      ),
    )
  })

  test('names that objects have anyway are names like any other', () => {
    const reading = fields('__proto__=1&constructor=2&toString=3')
    assert.equal(
      JSON.stringify(reading.kind === 'read' && reading.value),
      '{"__proto__":"1","constructor":"2","toString":"3"}',
    )
  })

  test('empty ones, and ones without a value', () => {
    assert.deepEqual(fields(''), { kind: 'read', value: {} })
    assert.deepEqual(fields('&a&&b=&=c&d=e=f&'), { kind: 'read', value: { a: '', b: '', '': 'c', d: 'e=f' } })
  })

  test('broken escapes, bytes that are not UTF-8 and too many fields are syntax errors', () => {
    for (const body of ['a=%', 'a=%zz', '%f=1', 'a=%ff', '%ff=a', Buffer.from('a=\xff', 'latin1')]) {
      assert.equal(fields(body).kind, 'syntax', String(body))
    }
    assert.equal(fields('a=1&'.repeat(10_000)).kind, 'read')
    assert.equal(fields('a=1&'.repeat(10_001)).kind, 'syntax')
  })

  test('either: JSON where there is a payload member, else the fields', () => {
    assert.deepEqual(fields('payload=%5B1%5D&a=2', 'either'), { kind: 'read', value: [1] })
    assert.deepEqual(fields('command=%2Fgo&text=a+b', 'either'), {
      kind: 'read',
      value: { command: '/go', text: 'a b' },
    })
    assert.equal(fields('payload=%5B', 'either').kind, 'syntax')
  })
})

describe('multipart forms', () => {
  const listed = ['multipart/form-data']
  const encode = async (form: FormData) => {
    const response = new Response(form)
    const mediaType = acceptedType(listed, response.headers.get('content-type'))
    return { mediaType: mediaType!, body: new Uint8Array(await response.arrayBuffer()) }
  }

  test('fields and files come as they were sent', async () => {
    const form = new FormData()
    form.append('subject', 'größe "1"\r\nline')
    form.append('to', 'a')
    form.append('to', 'b')
    form.append('__proto__', 'x')
    form.append('file', new File([new Uint8Array([0, 255, 1])], 'ä.bin', { type: 'application/x-test' }))
    const { mediaType, body } = await encode(form)
    const reading = await read(mediaType, body)
    assert.equal(
      JSON.stringify(reading.kind === 'read' && reading.value),
      JSON.stringify({
        subject: 'größe "1"\r\nline',
        to: ['a', 'b'],
        ['__proto__']: 'x',
        file: { filename: 'ä.bin', contentType: 'application/x-test', base64: 'AP8B' },
      }),
    )
  })

  test('without a boundary, or with one that is none, it is not what this producer sends', () => {
    for (const header of [
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'multipart/form-data; boundary=a b',
      `multipart/form-data; boundary=${'x'.repeat(71)}`,
      'multipart/form-data; boundary="a"; charset=latin1',
    ]) {
      assert.equal(acceptedType(listed, header), null, header)
    }
    assert.equal(
      acceptedType(listed, 'Multipart/Form-Data; Boundary=aB'),
      'multipart/form-data; boundary="aB"',
    )
  })

  test('a torn one is a syntax error, and text that is not UTF-8 is told and never replaced', async () => {
    const form = new FormData()
    form.append('a', 'value')
    const { mediaType, body } = await encode(form)
    for (const cut of [0, 1, body.length >> 1, body.length - 8]) {
      assert.equal((await read(mediaType, body.subarray(0, cut))).kind, 'syntax', String(cut))
    }
    const broken = Buffer.from(body)
    broken[broken.indexOf('value')] = 0xff
    assert.equal((await read(mediaType, broken)).kind, 'notRepresentable')
  })
})
