import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { endless, streamedRequest } from './fixtures/senders.ts'
import { readBody } from './read-body.ts'

const limits = { maxBytes: 100_000, maxReadMs: 10_000 }
const clock = new VirtualClock()
const read = (request: Request, within = limits) => readBody(request, within, clock)
const chunk = new Uint8Array(10_000)

test('a body in any chunks is read as it was sent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 30_000 }), { maxLength: 8 }), async (chunks) => {
      // A stream of bytes knows no empty chunk.
      const sent = chunks.filter((one) => one.length > 0)
      const { request } = streamedRequest('p', {}, sent)
      const body = Buffer.concat(sent)
      const reading = await read(request, { ...limits, maxBytes: 240_000 })
      assert.ok(reading.kind === 'read')
      assert.ok(body.equals(reading.body))
    }),
  )
})

test('no body and an empty one are empty', async () => {
  for (const body of [null, '', new Uint8Array(0)]) {
    const reading = await read(new Request('http://h.test/', { method: 'POST', body }))
    assert.ok(reading.kind === 'read' && reading.body.byteLength === 0)
  }
})

test('a body of exactly the limit is read, and one byte more is refused', async () => {
  for (const [length, kind] of [
    [100_000, 'read'],
    [100_001, 'refused'],
  ] as const) {
    const whole = new Request('http://h.test/', { method: 'POST', body: new Uint8Array(length) })
    assert.equal((await read(whole)).kind, kind)
    const { request } = streamedRequest('p', {}, [new Uint8Array(length - 1), new Uint8Array(1)])
    assert.equal((await read(request)).kind, kind)
  }
})

test('a stated length over the limit is refused before the first byte', async () => {
  const { request, pulled } = streamedRequest('p', { 'content-length': '100001' }, endless(chunk))
  const reading = await read(request)
  assert.ok(reading.kind === 'refused' && reading.code === 'body_too_large')
  assert.equal(pulled(), 0)
})

test('a length that lies, is absent or is no number does not help: the rest is not pulled', async () => {
  for (const headers of [
    {},
    { 'content-length': '5' },
    { 'content-length': '1e9' },
    { 'content-length': '-1' },
  ]) {
    const { request, pulled, cancelled } = streamedRequest('p', headers, endless(chunk))
    const reading = await read(request)
    assert.ok(reading.kind === 'refused' && reading.code === 'body_too_large')
    assert.ok(pulled() <= limits.maxBytes + chunk.byteLength, `${pulled()} bytes were pulled`)
    assert.ok(cancelled())
  }
})

test('a hundred thousand chunks of one byte cost their bytes', async () => {
  const { request } = streamedRequest('p', {}, Array(100_000).fill(new Uint8Array([7])))
  const reading = await read(request)
  assert.ok(reading.kind === 'read' && reading.body.byteLength === 100_000)
  assert.ok(reading.body.buffer.byteLength <= 131_072)
  assert.ok(reading.body.every((byte) => byte === 7))
})

test('chunks are not written to: they may belong to somebody else', async () => {
  const large = new Uint8Array(64)
  const { request } = streamedRequest('p', {}, [large.subarray(0, 4), new Uint8Array([1, 2, 3])])
  const reading = await read(request)
  assert.ok(reading.kind === 'read')
  assert.deepEqual([...reading.body], [0, 0, 0, 0, 1, 2, 3])
  assert.ok(large.every((byte) => byte === 0))
})

test('a body that stops arriving is too slow, and its source is let go', async () => {
  const virtual = new VirtualClock()
  const { request, cancelled } = streamedRequest('p', {}, [chunk], 'hangs')
  const reading = readBody(request, limits, virtual)
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(virtual.step(virtual.now() + 9_999), false)
  assert.equal(virtual.step(virtual.now() + 10_000), true)
  const answer = await reading
  assert.ok(answer.kind === 'refused' && answer.code === 'body_too_slow')
  assert.ok(cancelled())
})

test('a body that came in time leaves no timer behind', async () => {
  const virtual = new VirtualClock()
  await readBody(new Request('http://h.test/', { method: 'POST', body: 'x' }), limits, virtual)
  assert.equal(virtual.step(), false)
})

test('a body that breaks, ends before its stated length or is not made of bytes is broken', async () => {
  const broken = [
    streamedRequest('p', {}, [chunk], 'breaks').request,
    streamedRequest('p', {}, [], 'breaks').request,
    streamedRequest('p', { 'content-length': '10001' }, [chunk]).request,
    streamedRequest('p', {}, ['text' as unknown as Uint8Array]).request,
  ]
  for (const request of broken) {
    const reading = await read(request)
    assert.ok(reading.kind === 'refused' && reading.code === 'body_broken')
  }
})

test('a body that somebody else has read is our own fault, and says what to do', async () => {
  const used = new Request('http://h.test/', { method: 'POST', body: '{}' })
  await used.json()
  const locked = new Request('http://h.test/', { method: 'POST', body: '{}' })
  locked.body?.getReader()
  for (const request of [used, locked]) {
    await assert.rejects(read(request), { code: 'body_already_read', hint: /before any body parser/ })
  }
})
