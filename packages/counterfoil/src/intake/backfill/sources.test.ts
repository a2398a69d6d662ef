import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { type BackfillItem, beginning, type Place } from './item.ts'
import { readLines } from './lines.ts'
import { readListed } from './listed.ts'
import { sourceAt } from './read-source.ts'
import { readRequests } from './requests.ts'

const directory = mkdtempSync(join(tmpdir(), 'counterfoil-sources-'))
after(() => rmSync(directory, { recursive: true }))
const maxBytes = 1_000

async function all(items: AsyncIterable<BackfillItem>): Promise<BackfillItem[]> {
  const found: BackfillItem[] = []
  for await (const item of items) found.push(item)
  return found
}

const textsOf = (items: readonly BackfillItem[]) =>
  items.map(({ bytes }) => bytes && Buffer.from(bytes).toString())

describe('a file of lines', () => {
  const path = join(directory, 'lines.jsonl')
  const read = (text: string | Buffer, from: Place = beginning) => {
    writeFileSync(path, text)
    return all(readLines(path, { from, maxBytes }))
  }

  test('every line that is not blank is an item, whatever ends it, and is known by its number', async () => {
    const items = await read('\uFEFF{"a":1}\r\n\n  \t\r\n {"b":2} \n{"c":3}')
    assert.deepEqual(textsOf(items), ['{"a":1}', '{"b":2}', '{"c":3}'])
    assert.deepEqual(
      items.map(({ place }) => place),
      ['line 1', 'line 4', 'line 5'],
    )
    assert.deepEqual(await read(''), [])
    assert.deepEqual(await read('\n\n'), [])
  })

  test('a line that is too long is told by its digest alone, and those after it are read', async () => {
    const long = 'x'.repeat(700_000)
    const items = await read(`{"a":1}\n${long}\n{"b":2}\n`)
    assert.deepEqual(textsOf(items), ['{"a":1}', null, '{"b":2}'])
    assert.equal(Buffer.from(items[1]!.digest).toString('hex'), hash('sha256', long))
  })

  test('from where any item ends the rest is read as before', async () => {
    const line = fc.oneof(
      fc.constant(''),
      fc.string({ maxLength: 30, unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, ' ')),
    )
    const end = fc.constantFrom('\n', '\r\n')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(line, end), { maxLength: 20 }), fc.nat(), async (lines, at) => {
        const text = lines.map((parts) => parts.join('')).join('')
        const items = await read(text)
        const known = (one: BackfillItem) => ({
          ...one,
          bytes: String(one.bytes),
          digest: String(one.digest),
        })
        if (items.length === 0) return
        const place = at % items.length
        const rest = await read(text, items[place]!.next)
        assert.deepEqual(rest.map(known), items.slice(place + 1).map(known))
      }),
      { numRuns: 60 },
    )
  })
})

describe('a directory of requests', () => {
  test('its files and those in it are items in the order of their names; hidden ones are not', async () => {
    const root = join(directory, 'requests')
    mkdirSync(join(root, 'b'), { recursive: true })
    mkdirSync(join(root, '.git'))
    for (const [name, text] of [
      ['c.http', 'third'],
      ['b/2.http', 'second'],
      ['a.http', 'first'],
      ['.hidden', 'no'],
      ['.git/x', 'no'],
      ['z.http', 'x'.repeat(maxBytes + 1)],
    ] as const)
      writeFileSync(join(root, name), text)
    const items = await all(readRequests(root, { from: beginning, maxBytes }))
    assert.deepEqual(textsOf(items), ['first', 'second', 'third', null])
    assert.equal(items[1]?.place, 'request b/2.http')
    const rest = await all(readRequests(root, { from: items[1]!.next, maxBytes }))
    assert.deepEqual(textsOf(rest), ['third', null])
    assert.equal((await sourceAt(root)).kind, 'requests')
    assert.equal((await sourceAt(join(root, 'a.http'))).kind, 'events')
    await assert.rejects(sourceAt(join(root, 'none')), { code: 'backfill_unreadable' })
  })
})

describe('a list', () => {
  test('gives events in one spelling, and what is no JSON as what cannot be read', async () => {
    async function* list({ until }: { until: number }) {
      // As a vendor's SDK gives it: members that are undefined, and dates.
      yield { b: new Date(0), a: until, none: undefined }
      yield undefined
      yield { c: [12345678901234567890n] }
    }
    const items = await all(readListed(list, 5, { from: beginning, maxBytes }))
    assert.deepEqual(textsOf(items), [
      '{"a":5,"b":"1970-01-01T00:00:00.000Z"}',
      'a undefined that JSON cannot hold',
      '{"c":[12345678901234567890]}',
    ])
    const rest = await all(readListed(list, 5, { from: items[0]!.next, maxBytes }))
    assert.deepEqual(textsOf(rest), textsOf(items).slice(1))
  })
})
