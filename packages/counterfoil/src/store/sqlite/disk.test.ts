import assert from 'node:assert/strict'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { CounterfoilError } from '../../domain/index.ts'
import { accepted, delivery, sealed } from '../conformance/given.ts'
import { count, hasProgram, mayMount, run, startWriter } from './fixtures/child.ts'
import { ledgerFaults } from './fixtures/ledger-faults.ts'
import { temporaryDirectory } from './fixtures/temporary.ts'
import { sqlite } from './index.ts'

const directory = temporaryDirectory()
after(() => directory.remove())

test('a full disk refuses and loses nothing, still reads, and goes on when it is freed (C34)', async (t) => {
  if (!mayMount(t)) return
  const mount = join(directory.path, 'small')
  mkdirSync(mount)
  run('mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', mount)
  const path = join(mount, 'store.db')
  const store = sqlite(path)
  try {
    const ballast = join(mount, 'ballast')
    writeFileSync(ballast, Buffer.alloc(1_500_000))
    await store.open({ migrate: true })
    const kept: string[] = []
    const codes = new Set<string>()
    for (let round = 0; round < 100 && codes.size === 0; round++) {
      const answers = await Promise.allSettled(
        Array.from({ length: 16 }, () => store.accept({ ...delivery(), payload: sealed('x'.repeat(4_000)) })),
      )
      for (const answer of answers) {
        if (answer.status === 'fulfilled') kept.push(answer.value.receipt)
        else codes.add((answer.reason as CounterfoilError).code)
      }
    }
    assert.deepEqual([...codes], ['store_full'])
    assert.ok(kept.length > 0)
    assert.equal((await store.status()).receipts.total, kept.length)
    assert.equal((await store.listReceipts({ limit: 10 })).length, 10)

    rmSync(ballast)
    kept.push((await accepted(store)).receipt)
    assert.equal((await store.status()).receipts.total, kept.length)
    await store.close()
    assert.deepEqual(ledgerFaults(path, kept), { lost: [], faults: [] })
  } finally {
    await store.close().catch(() => {})
    run('umount', mount)
  }
})

const syncs = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=fdatasync,fsync', '-e']

test('a sync that fails leaves the commit unknown, and what was acknowledged is kept', async (t) => {
  if (!hasProgram(t, 'strace', 'strace')) return
  const path = join(directory.path, 'failing.db')
  const inject = 'inject=fdatasync,fsync:error=EIO:when=40+'
  const writer = startWriter({ path, callers: 8, count: 60 }, [...syncs, inject])
  await writer.until((lines) => count(lines, 'failed') >= 40)
  writer.process.kill('SIGKILL')
  await writer.ended
  const codes = new Set(writer.said('failed'))
  // The first is the sync itself; after it the connection is given up, and that is no doubt about anything.
  assert.equal(writer.said('failed')[0], 'commit_unknown')
  for (const code of codes) assert.ok(['commit_unknown', 'store_unavailable'].includes(code), code)
  assert.ok(writer.said('ack').length > 8)
  assert.deepEqual(ledgerFaults(path, writer.said('ack')), { lost: [], faults: [] })
})

test('after a sync that failed the store opens its file again and goes on by itself', async (t) => {
  if (!hasProgram(t, 'strace', 'strace')) return
  const path = join(directory.path, 'passing.db')
  const inject = 'inject=fdatasync,fsync:error=EIO:when=40..44'
  const writer = startWriter({ path, callers: 8, count: 200 }, [...syncs, inject])
  await writer.ended
  const firstFailure = writer.lines.findIndex((line) => line.startsWith('failed'))
  assert.ok(firstFailure > 0)
  assert.equal(writer.said('failed')[0], 'commit_unknown')
  assert.ok(count(writer.lines.slice(firstFailure), 'ack') > 100, 'it did not go on')
  assert.deepEqual(ledgerFaults(path, writer.said('ack')), { lost: [], faults: [] })
})

/**
 * Cuts the power: a copy of the image under a mounted file system holds what has reached the device, and
 * nothing that waits in memory (the kernel is told to write by itself only every 300 s).
 */
async function afterPowerCut(
  name: string,
  synchronous: 'full' | 'normal',
): Promise<{ acknowledged: string[]; lost: string[]; faults: string[] }> {
  const [image, copy, mount] = [`${name}.img`, `${name}-copy.img`, name].map((file) =>
    join(directory.path, file),
  ) as [string, string, string]
  mkdirSync(mount)
  run('truncate', '-s', '48M', image)
  run('mkfs.ext4', '-q', '-F', image)
  run('mount', '-o', 'loop,commit=300', image, mount)
  const path = join(mount, 'store.db')
  let acknowledged: string[]
  try {
    const setup = startWriter({ path, callers: 1, count: 1, name: 'setup' })
    await setup.ended
    run('sync', '-f', mount)
    const writer = startWriter({ path, callers: 8, count: 100_000, plans: true, synchronous })
    await writer.until((lines) => count(lines, 'planned') >= 200)
    acknowledged = writer.said('ack')
    run('cp', '--sparse=always', image, copy)
    writer.process.kill('SIGKILL')
    await writer.ended
  } finally {
    run('umount', mount)
  }
  run('mount', '-o', 'loop', copy, mount)
  try {
    assert.ok(statSync(path).size > 0)
    return { acknowledged, ...ledgerFaults(path, acknowledged) }
  } finally {
    run('umount', mount)
  }
}

test('a power cut loses nothing that was acknowledged', async (t) => {
  if (!mayMount(t) || !hasProgram(t, 'mkfs.ext4', 'e2fsprogs')) return
  const { acknowledged, lost, faults } = await afterPowerCut('full', 'full')
  assert.ok(acknowledged.length >= 200)
  assert.deepEqual({ lost, faults }, { lost: [], faults: [] })
})

test('the same power cut loses much where commits are not synced: the test above can fail', async (t) => {
  if (!mayMount(t) || !hasProgram(t, 'mkfs.ext4', 'e2fsprogs')) return
  const { lost } = await afterPowerCut('normal', 'normal')
  assert.ok(lost.length > 0)
})
