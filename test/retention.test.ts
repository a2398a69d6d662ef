import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { DemoProcesses } from './processes.ts'

const processes = new DemoProcesses({ config: join(import.meta.dirname, 'fixtures/retained.config.ts') })
const reason = ['--operator', 'dana', '--reason', 'request 118'] as const

/** A delivery that was signed just now, of an event that happened at this time. */
async function deliver(id: string, happened: string, email: string): Promise<Response> {
  const body = JSON.stringify({ type: 'order.placed', timestamp: happened, data: { email } })
  const sentAt = Math.floor(Date.now() / 1000)
  const signed = createHmac('sha256', 'a secret of these tests').update(`${id}.${sentAt}.${body}`)
  return await fetch(`${processes.url}/in/shop`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(sentAt),
      'webhook-signature': `v1,${signed.digest('base64')}`,
    },
  })
}

/** How many receipts are planned. */
async function planned(): Promise<number> {
  const { receipts } = await processes.counterfoil<{ receipts: { state: string }[] }>('receipts', 'list')
  return receipts.filter(({ state }) => state === 'planned').length
}

describe('retention at the command line, beside a server', () => {
  before(async () => {
    await processes.startServer()
    assert.equal((await deliver('msg_old', '2020-01-01T00:00:00Z', 'olga@example.com')).status, 202)
    assert.equal((await deliver('msg_new', new Date().toISOString(), 'paul@example.com')).status, 202)
    while ((await planned()) < 2) await new Promise((resolve) => setTimeout(resolve, 50))
  })
  after(() => processes.dispose())

  test('a plan says where the boundary would be and takes nothing; applied, what is not known from before is refused', async () => {
    interface Answer {
      readonly plan: { readonly state: string; readonly boundary: number }
    }
    const { plan } = await processes.counterfoil<Answer>('retention', 'plan')
    const days = (Date.now() - plan.boundary) / 86_400_000
    assert.ok(days >= 400 && days < 401, `the boundary is ${days} days ago`)
    assert.equal((await deliver('msg_old', '2020-01-01T00:00:00Z', 'olga@example.com')).status, 200)
    assert.equal((await deliver('msg_lost', '2020-01-02T00:00:00Z', 'olga@example.com')).status, 202)

    const applied = await processes.counterfoil<Answer>('retention', 'apply', ...reason)
    assert.equal(applied.plan.state, 'done')
    const refused = await deliver('msg_late', '2020-01-03T00:00:00Z', 'olga@example.com')
    assert.equal(refused.status, 422)
    const { code, boundary } = (await refused.json()) as { code: string; boundary: string }
    assert.deepEqual([code, boundary], ['beyond_retention', new Date(applied.plan.boundary).toISOString()])
    // What is known is a duplicate as before, and what is new is taken.
    assert.equal((await deliver('msg_old', '2020-01-01T00:00:00Z', 'olga@example.com')).status, 200)
    assert.equal((await deliver('msg_newer', new Date().toISOString(), 'paul@example.com')).status, 202)
  })

  test('one person’s payloads are found and erased, and the receipts stay', async () => {
    while ((await planned()) < 4) await new Promise((resolve) => setTimeout(resolve, 50))
    const query = ['--pointer', '/data/email', '--equals', 'olga@example.com'] as const
    const erase = <Result>(...more: string[]) =>
      processes.counterfoil<Result>('retention', 'erase', ...query, ...more)
    const found = await erase<{ receipts: number; open: number; digest: string }>(
      '--dry-run',
      '--operator',
      'dana',
    )
    assert.deepEqual([found.receipts, found.open], [2, 0])
    const run = await erase<{ state: string; payloads: number }>('--digest', found.digest, ...reason)
    assert.deepEqual([run.state, run.payloads], ['done', 2])
    assert.equal(await planned(), 4)
    const again = await erase<{ receipts: number }>('--dry-run', '--operator', 'dana')
    assert.equal(again.receipts, 0)

    const { head } = await processes.counterfoil<{ head: string }>('audit', 'head')
    const verified = await processes.counterfoil<{ headFound: boolean }>('audit', 'verify', '--head', head)
    assert.equal(verified.headFound, true)
  })
})
