import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { counterfoil, fileBodies, internal, outcomeOf, recipient, trigger } from 'counterfoil'
import { nodeSqlite } from 'counterfoil/adapters/node-sqlite'
import { sqlite } from 'counterfoil/sqlite'
import { z } from 'zod'

/** More than an effect may carry itself. */
const bytes = randomBytes(9 * 1024 * 1024)

test('a large body by reference goes from the event to a confirmed effect, through a reset in the middle of it', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-bodies-'))
  t.after(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'scan-7.pdf'), bytes)
  const seen: { readonly key: unknown; readonly sha256: string | null }[] = []
  const server = createServer(async (request, response) => {
    const key = request.headers['idempotency-key']
    const digest = createHash('sha256')
    let received = 0
    for await (const chunk of request) {
      digest.update(chunk)
      received += chunk.byteLength
      if (seen.length > 0 || received < 1_000_000) continue
      seen.push({ key, sha256: null })
      request.socket.resetAndDestroy()
      return
    }
    seen.push({ key, sha256: digest.digest('hex') })
    response.writeHead(201).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())

  const archive = recipient('archive', {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    allowPrivateAddresses: true,
    bodies: { files: fileBodies(directory) },
    contract: {
      idempotency: {
        header: 'Idempotency-Key',
        remembersFor: '24h',
        otherPayload: 'refused',
        replays: 'first-success',
      },
    },
  })
  const Scan = z.object({ file: z.string(), length: z.number(), sha256: z.string() })
  const keep = archive.effect('scan.keep', {
    payload: Scan,
    request: ({ file, ...about }) => ({
      method: 'PUT',
      path: `/${file}`,
      bodyFrom: { store: 'files', key: file, ...about },
    }),
  })
  const scanned = internal('scanner').event('scanned', { schema: Scan })
  const store = join(directory, 'counterfoil.db')
  const database = new DatabaseSync(store)
  t.after(() => database.close())
  const transactions = nodeSqlite(database)
  const app = counterfoil({
    store: sqlite(store),
    transactions,
    recipients: [archive],
    triggers: [
      trigger('keep what was scanned', {
        on: scanned,
        in: transactions,
        plan: ({ data }, { effect }) => effect(keep, { key: `scan/${data.sha256}`, payload: data }),
      }),
    ],
    log: () => {},
  })
  await app.start()
  t.after(() => app.stop())
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  database.exec('begin immediate')
  const data = { file: 'scan-7.pdf', length: bytes.byteLength, sha256 }
  const { receipt } = await app.publish(database, { type: scanned, data })
  database.exec('commit')
  assert.equal((await outcomeOf(app, receipt, { within: '60s' })).kind, 'final')
  const [effect] = await app.store.listEffects({ limit: 1 })
  assert.ok(effect)
  assert.deepEqual(
    effect.attempts.map((attempt) => attempt.outcome),
    ['unknown', 'confirmed'],
  )
  assert.deepEqual(
    seen.map((one) => one.sha256),
    [null, sha256],
  )
  assert.equal(new Set(seen.map((one) => one.key)).size, 1)
  const request = await app.readRequest(effect)
  assert.ok(request !== null && request.byteLength < 500, 'the ledger holds the reference alone')
})
