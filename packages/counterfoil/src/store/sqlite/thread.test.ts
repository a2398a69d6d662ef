import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { rejects } from '../conformance/given.ts'
import { temporaryDirectory } from './fixtures/temporary.ts'
import { Thread } from './thread.ts'

test('a thread that ends leaves what it was told unknown, and the next call starts another', async () => {
  const directory = temporaryDirectory()
  const thread = new Thread({ path: join(directory.path, 'x.db'), busyTimeoutMs: 100, synchronous: 'full' })
  try {
    await thread.order({ do: 'open', migrate: true })
    const status = { calls: [['status', null] as const], block: Buffer.from(new ArrayBuffer(0)) }
    const told = thread.batch(status)
    const ending = thread.end()
    await rejects(told as Promise<unknown>, 'commit_unknown')
    await ending
    const {
      results: [result],
    } = await thread.batch({ ...status, block: Buffer.from(new ArrayBuffer(0)) })
    assert.ok(result !== undefined && 'ok' in result)
  } finally {
    await thread.order({ do: 'close' })
    await thread.end()
    directory.remove()
  }
})
