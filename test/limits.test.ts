import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { missing } from '../packages/counterfoil/src/store/postgres/fixtures/binaries.ts'
import { Server } from '../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { until } from '../packages/counterfoil/src/store/postgres/fixtures/standby.ts'
import { skipLoudly } from '../packages/counterfoil/src/testing/skip.ts'
import { NarrowRecipient } from './fixtures/narrow-recipient.ts'
import { DemoProcesses, github } from './processes.ts'

const issues = 24
const vaultKey = `test:${Buffer.alloc(32, 'k').toString('base64')}`

/** Three server processes on one store, each with more places of its own than the recipient may bear. */
async function holdsOver(environment: Readonly<Record<string, string>>): Promise<void> {
  const recipient = new NarrowRecipient()
  await recipient.start()
  const processes = new DemoProcesses({
    config: join(import.meta.dirname, 'fixtures/limits.config.ts'),
    environment: { ...environment, COUNTERFOIL_VAULT_KEYS: vaultKey, LIMITED_RECIPIENT: recipient.url },
  })
  try {
    const urls: string[] = []
    for (let n = 0; n < 3; n++) urls.push((await processes.startAnother()).url)
    const beganAt = Date.now()
    await Promise.all(
      Array.from({ length: issues }, async (_, number) => {
        const url = `${urls[number % 3]}/in/github`
        const response = await fetch(url, github('issues', `limits-${number}`, { number }))
        assert.equal(response.status, 202)
      }),
    )
    await until('all that may come at once is there', async () => recipient.calls('/pass') === 3)
    await until('all are metered', async () => recipient.calls('/meter') === issues)
    assert.equal(recipient.calls('/pass'), 3, 'nobody passes the gate while three stand before it')
    recipient.open()
    await until('all have passed', async () => recipient.calls('/pass') === issues)
    assert.equal(recipient.most['/pass'], 3)
    // A call comes after its attempt began, so at any time no more have come than may have begun.
    for (const [index, at] of recipient.came['/meter']!.entries())
      assert.ok(index + 1 <= 4 + ((at - beganAt) * 4) / 500, `call ${index + 1} after ${at - beganAt} ms`)
  } finally {
    await processes.dispose()
    await recipient.stop()
  }
}

describe('three processes on one store keep to the limits of a recipient together', () => {
  test('on one SQLite file', () => holdsOver({}))

  const why = missing(18)
  test('on PostgreSQL', async (t) => {
    if (why !== undefined) return skipLoudly(t, why)
    const server = await Server.start(18)
    try {
      await holdsOver({ COUNTERFOIL_TEST_POSTGRES: server.url() })
    } finally {
      await server.dispose()
    }
  })
})
