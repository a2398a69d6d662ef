import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { rejects } from '../conformance/given.ts'
import { temporaryDirectory } from './fixtures/temporary.ts'
import { Thread } from './thread.ts'

const nothing = () => Buffer.from(new ArrayBuffer(0))
const status = () => ({ calls: [['status', null] as const], block: nothing() })
/** More than any thread answers before it can be ended. */
const endless = () => ({
  calls: Array.from({ length: 300_000 }, () => ['status', null] as const),
  block: nothing(),
})

async function withThread(use: (thread: Thread) => Promise<void>): Promise<void> {
  const directory = temporaryDirectory()
  const thread = new Thread({ path: join(directory.path, 'x.db'), busyTimeoutMs: 100, synchronous: 'full' })
  try {
    await thread.order({ do: 'open', migrate: true })
    await use(thread)
  } finally {
    await thread.end()
    directory.remove()
  }
}

describe('a thread that ends', () => {
  test('leaves what it was told unknown, and the next call starts another', () =>
    withThread(async (thread) => {
      const told = thread.batch(endless())
      await Promise.all([rejects(told, 'commit_unknown'), thread.end()])
      const {
        results: [result],
      } = await thread.batch(status())
      assert.ok(result !== undefined && 'ok' in result)
    }))

  test('takes nobody with it who already waits for the next', () =>
    withThread(async (thread) => {
      const told = thread.batch(endless())
      const ending = thread.end()
      // The old thread is not gone yet: its end must not be taken for the end of this one.
      const next = thread.batch(status())
      await Promise.all([rejects(told, 'commit_unknown'), ending])
      const { results } = await next
      assert.equal(results.length, 1)
    }))
})
