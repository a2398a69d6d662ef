import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DemoProcesses, github } from './processes.ts'

interface Answer {
  readonly receipt: string
  readonly outcome: string
}

/** The demo's server as a process of its own, over real HTTP, read back through the command line. */
describe('the demo server', () => {
  const demo = new DemoProcesses()
  before(async () => {
    await demo.startRecipient()
    await demo.startServer()
  })
  after(() => demo.dispose())

  const send = async (delivery: RequestInit): Promise<[number, Answer]> => {
    const response = await fetch(`${demo.url}/in/github`, delivery)
    return [response.status, (await response.json()) as Answer]
  }
  const opened = (number: number, title = 'It does not work') => ({
    action: 'opened',
    issue: { number, title, updated_at: '2026-01-01T00:00:00Z' },
    repository: { full_name: 'octo/shop' },
  })
  const receipts = () =>
    demo.counterfoil<{ receipts: Record<string, unknown>[] }>('receipts', 'list', '--limit', '9999')
  const quarantined = async (receipt: string) => {
    const { quarantine } = await demo.counterfoil<{ quarantine: Record<string, unknown>[] }>(
      'quarantine',
      'list',
    )
    return quarantine.find((entry) => entry.receipt === receipt)
  }
  const effects = async () =>
    (await demo.counterfoil<{ effects: Record<string, any>[] }>('effects', 'list', '--limit', '9999')).effects

  test('accepts a signed payload with 202, and again with 200 as a duplicate', async () => {
    const [status, answer] = await send(github('issues', 'a-1', opened(1)))
    assert.deepEqual([status, answer.outcome], [202, 'accepted'])
    const [again, duplicate] = await send(github('issues', 'a-1', opened(1)))
    assert.deepEqual([again, duplicate], [200, { receipt: answer.receipt, outcome: 'duplicate' }])
  })

  test('answers a tampered payload with 401 and keeps no row of it', async () => {
    const earlier = await receipts()
    const delivery = github('issues', 'b-1', opened(2))
    const response = await fetch(`${demo.url}/in/github`, { ...delivery, body: `${delivery.body} ` })
    assert.equal(response.status, 401)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    assert.equal(((await response.json()) as { code: string }).code, 'signature_invalid')
    assert.deepEqual((await receipts()).receipts.length, earlier.receipts.length)
  })

  test('makes one receipt and one effect of 64 copies that come at once', async () => {
    const delivery = github('issues', 'c-1', opened(3))
    const answers = await Promise.all(Array.from({ length: 64 }, () => send(delivery)))
    assert.deepEqual(answers.map(([status]) => status).sort(), [...Array(63).fill(200), 202])
    assert.equal(new Set(answers.map(([, answer]) => answer.receipt)).size, 1)
    const [receipt] = (await receipts()).receipts.filter((candidate) => candidate.eventId === 'c-1')
    assert.equal(receipt?.duplicates, 63)
    const found = await until(
      async () => (await effects()).filter((effect) => effect.key.includes('/3/')),
      (list) => list[0]?.state === 'confirmed',
    )
    assert.equal(found.length, 1)
    assert.equal((await demo.acts())[found[0]!.idempotencyKey], 1)
  })

  test('takes an unsupported type into quarantine with reason, owner and vault reference, once', async () => {
    const delivery = github('a_type_nobody_handles', 'd-1', { hello: 'world' })
    const [status, answer] = await send(delivery)
    assert.deepEqual([status, answer.outcome], [202, 'quarantined'])
    for (let copy = 0; copy < 20; copy++) assert.deepEqual((await send(delivery))[0], 202)
    const entry = await quarantined(answer.receipt)
    assert.equal(entry?.reason, 'unsupported-type')
    assert.ok(entry?.owner && entry.vault)
    const { quarantine } = await demo.counterfoil<{ quarantine: Record<string, unknown>[] }>(
      'quarantine',
      'list',
    )
    assert.equal(quarantine.filter((candidate) => candidate.type === 'a_type_nobody_handles').length, 1)
  })

  test('takes the same id with another body as a conflict, beside the first', async () => {
    await send(github('issues', 'e-1', opened(5)))
    const [status, answer] = await send(github('issues', 'e-1', opened(5, 'Another title')))
    assert.deepEqual([status, answer.outcome], [202, 'conflict'])
    assert.equal((await quarantined(answer.receipt))?.reason, 'identity-conflict')
  })

  test('reports one signed body that is replayed under another id, and repeats no effect (C18)', async () => {
    const [, first] = await send(github('issues', 'f-1', opened(6)))
    const [status, second] = await send(github('issues', 'f-2', opened(6)))
    assert.equal(status, 202)
    assert.equal((second as Answer & { sameContentAs?: string }).sameContentAs, first.receipt)
    const found = await until(
      async () => (await effects()).filter((effect) => effect.key.includes('/6/')),
      (list) => list[0]?.state === 'confirmed',
    )
    assert.equal(found.length, 1)
    assert.equal((await demo.acts())[found[0]!.idempotencyKey], 1)
  })

  test('quarantines a second event that plans the same key with another payload, with both fingerprints, and nothing leaves', async () => {
    await send(github('issues', 'g-1', opened(7)))
    const [first] = await until(
      async () => (await effects()).filter((effect) => effect.key.includes('/7/')),
      (list) => list[0]?.state === 'confirmed',
    )
    const [, second] = await send(github('issues', 'g-2', opened(7, 'Another title')))
    const entry = await until(
      () => quarantined(second.receipt),
      (found) => found !== undefined,
    )
    assert.equal(entry?.reason, 'effect-conflict')
    const detail = entry?.detail as { planned: string; existing: string }
    assert.equal(detail.existing, first!.fingerprint)
    assert.notEqual(detail.planned, detail.existing)
    assert.equal((await effects()).filter((effect) => effect.key === first!.key).length, 1)
    assert.equal((await demo.acts())[first!.idempotencyKey], 1)
  })

  test('leaves an effect whose answer is lost unknown, looks it up, and confirms it after one act', async () => {
    await demo.control({ lose: 1 })
    await send(github('issues', 'h-1', opened(8)))
    const [effect] = await until(
      async () => (await effects()).filter((candidate) => candidate.key.includes('/8/')),
      (list) => list[0]?.state === 'confirmed',
    )
    assert.equal(effect!.attempts[0].outcome, 'unknown')
    assert.deepEqual(effect!.evidence.map((entry: any) => [entry.kind, entry.from, entry.to]).at(-1), [
      'lookup',
      'unknown',
      'confirmed',
    ])
    assert.equal((await demo.acts())[effect!.idempotencyKey], 1)
    const {
      effects: [told],
    } = await demo.counterfoil<{ effects: Record<string, any>[] }>('effects', 'show', effect!.key)
    assert.deepEqual(
      told!.timeline.map((line: any) => line.kind),
      ['receipt', 'planned', 'attempt', 'answer', 'lookup'],
    )
    assert.equal(told!.next.kind, 'done')
  })
})

/** Asks until the answer is right, for half a minute. */
async function until<Found>(ask: () => Promise<Found>, right: (found: Found) => boolean): Promise<Found> {
  for (let tries = 0; ; tries++) {
    const found = await ask()
    if (right(found) || tries > 100) return found
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
