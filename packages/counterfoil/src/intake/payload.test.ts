import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { JsonReading } from '../domain/index.ts'
import { acceptedType, readPayload } from './payload.ts'
import { github } from './producers/index.ts'

const json = ['application/json']
const form = 'application/x-www-form-urlencoded'
const read = (mediaType: string, body: string | Uint8Array) =>
  readPayload(
    { numbers: 'double', kind: github({ secrets: 'x' }) },
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
