import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { publishedContract } from 'counterfoil'
import { RunningService } from '../packages/counterfoil/src/guard/fixtures/running-service.ts'

test('a sender reads the contract of a running guard, and starts by the kept one while that process is dead', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-published-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const service = await RunningService.start('sqlite', join(directory, 'service.db'))
  t.after(() => service.kill())
  const keptIn = join(directory, 'seats.contract.json')
  const told: string[] = []
  const read = (more: object = {}) =>
    publishedContract(service.url, {
      allowPrivateAddresses: true,
      fence: true,
      log: (_, message) => void told.push(message),
      ...more,
    })
  const contract = await read({ keptIn })
  assert.equal(contract.idempotency?.header, 'Idempotency-Key')
  assert.equal(contract.ordering.fence.header, 'Fence-Version')
  await service.kill()
  assert.deepEqual(await read({ keptIn }), contract)
  assert.deepEqual(told, ['a published contract could not be read; the kept one holds'])
  await assert.rejects(read(), { code: 'contract_unpublished' })
  await service.run()
  assert.deepEqual(await read(), contract)
})
