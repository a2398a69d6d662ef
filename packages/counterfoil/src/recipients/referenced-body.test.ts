import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { BodyReference } from './body-reference.ts'
import type { BodyStore } from './body-store.ts'
import { referencedBody } from './referenced-body.ts'

const never = new AbortController().signal

export function referenceTo(bytes: Uint8Array, about: Partial<BodyReference> = {}): BodyReference {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { store: 'files', key: 'scan-7', length: bytes.byteLength, sha256, ...about }
}

function storeOf(chunks: readonly Uint8Array[]): BodyStore {
  return {
    async *open() {
      yield* chunks
    },
  }
}

/** What came out, and the code of the error that ended it. */
async function read(reference: BodyReference, store: BodyStore) {
  const out: Uint8Array[] = []
  let code: string | undefined
  try {
    for await (const chunk of referencedBody(reference, store, never)) out.push(chunk)
  } catch (error) {
    code = (error as { code: string }).code
  }
  return { bytes: Buffer.concat(out), code }
}

const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 6 })

test('what is as it was planned comes out byte for byte, however it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(chunks, async (cut) => {
      const whole = Buffer.concat(cut)
      fc.pre(whole.byteLength > 0)
      assert.deepEqual(await read(referenceTo(whole), storeOf(cut)), { bytes: whole, code: undefined })
    }),
  )
})

test('whatever else a store gives, fewer bytes than planned come out: other bytes are never a whole body', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 60 }), chunks, async (planned, cut) => {
      fc.pre(!Buffer.concat(cut).equals(planned))
      const { bytes, code } = await read(referenceTo(planned), storeOf(cut))
      assert.equal(code, 'body_changed')
      assert.ok(bytes.byteLength < planned.byteLength)
    }),
  )
})

describe('a store that', () => {
  test('reads into one buffer again and again is sent as it was digested', async () => {
    const whole = Buffer.from('one two three four ')
    const shared = new Uint8Array(5)
    const store: BodyStore = {
      async *open() {
        for (let at = 0; at < whole.byteLength; at += 5) {
          const part = whole.subarray(at, at + 5)
          shared.set(part)
          yield shared.subarray(0, part.byteLength)
        }
      },
    }
    assert.deepEqual((await read(referenceTo(whole), store)).bytes, whole)
  })

  test('fails is told by the name of its error alone: the message may hold a secret', async () => {
    const store: BodyStore = {
      async open() {
        throw Object.assign(new Error('https://user:hunter2@store.example'), { code: 'ENOENT' })
      },
    }
    await assert.rejects(
      async () => {
        for await (const _ of referencedBody(referenceTo(Buffer.from('x')), store, never));
      },
      { code: 'body_unreadable', message: "The store of bodies 'files' failed with Error ENOENT." },
    )
  })

  test('gives text is refused: what its bytes are would be a guess', async () => {
    const store = storeOf(['x' as never])
    assert.equal((await read(referenceTo(Buffer.from('x')), store)).code, 'body_unreadable')
  })
})
