import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { BillingObject, billingCardOf, billingTypes } from './billing-events.ts'
import { examplesOf } from './examples.ts'
import { cardOf, GitHubPayload, gitHubTypes } from './github-events.ts'
import { differences } from './summary.ts'

const content = `jcs-sha256:${'a'.repeat(64)}`
const otherContent = `jcs-sha256:${'b'.repeat(64)}`
const card = (type: string, payload: unknown, fingerprint = content) =>
  cardOf(type, GitHubPayload.parse(payload), fingerprint)

describe('effect keys', () => {
  test('every example payload fits its schema and has a key of its own repository', () => {
    for (const type of gitHubTypes) {
      const examples = examplesOf(type)
      assert.ok(examples.length > 0, `${type} has examples`)
      for (const example of examples) {
        const { reference, title } = card(type, example)
        assert.ok(reference.startsWith(`github/${example.repository.full_name}/`), reference)
        assert.ok(reference.length <= 512 && title.length <= 200)
        assert.deepEqual(card(type, structuredClone(example)), { reference, title })
      }
    }
    for (const example of examplesOf('ping')) GitHubPayload.parse(example)
  })

  test('examples share a key where they tell of the same operation, and only there', () => {
    const titles = new Map<string, Set<string>>()
    for (const type of gitHubTypes) {
      for (const [index, example] of examplesOf(type).entries()) {
        const { reference, title } = card(type, example, `jcs-sha256:${type}-${index}`)
        titles.set(reference, (titles.get(reference) ?? new Set()).add(title))
      }
    }
    assert.ok(titles.size > 60, `${titles.size} operations`)
    const contradictions = [...titles].filter(([, told]) => told.size > 1).map(([reference]) => reference)
    // The collection has one deployment in two environments: an effect conflict, as it should be.
    assert.deepEqual(contradictions, [
      'github/Codertocat/Hello-World/deployments/145988746/created',
      'github/Codertocat/Hello-World/deployments/145988746/statuses/209916254/created',
    ])
  })

  test('an operation is named by what it is about, and by its revision where it can happen again', () => {
    const repository = { full_name: 'octo/shop' }
    const issue = { number: 7, title: 'Broken', updated_at: '2026-01-01T00:00:00Z' }
    const keys = [
      card('issues', { action: 'opened', issue, repository }),
      card('issues', { action: 'labeled', issue, label: { name: 'good first/issue' }, repository }),
      card('push', { ref: 'refs/heads/main', after: 'f00d', repository }),
    ].map(({ reference }) => reference)
    assert.deepEqual(keys, [
      'github/octo/shop/issues/7/opened',
      'github/octo/shop/issues/7/labeled/good%20first%2Fissue/2026-01-01T00:00:00Z',
      'github/octo/shop/push/refs/heads/main/f00d',
    ])
  })

  test('what a payload lacks, its content replaces', () => {
    for (const type of gitHubTypes) {
      const { reference } = card(type, {})
      assert.ok(reference.endsWith(`/content-${'a'.repeat(32)}`), reference)
      assert.notEqual(card(type, { zen: 'x' }, otherContent).reference, reference)
    }
    const edited = { action: 'edited', issue: { number: 7 }, repository: { full_name: 'octo/shop' } }
    assert.notEqual(card('issues', edited).reference, card('issues', edited, otherContent).reference)
  })

  test('another title is another payload under the same key', () => {
    const opened = (title: string) =>
      card('issues', { action: 'opened', issue: { number: 7, title }, repository: { full_name: 'o/r' } })
    assert.equal(opened('One').reference, opened('Two').reference)
    assert.notEqual(opened('One').title, opened('Two').title)
  })

  test('every type of the shop has a key, with and without an id', () => {
    for (const [producer, { paid, other }] of Object.entries(billingTypes)) {
      for (const type of [...paid, ...other]) {
        const event = { producer, type, fingerprint: content }
        const { reference } = billingCardOf(event, BillingObject.parse({ id: 'x_1', updated_at: 1 }))
        assert.ok(reference.startsWith(`${producer}/`) && reference.includes('/x_1/'), reference)
        assert.match(billingCardOf(event, BillingObject.parse({})).reference, /content-a{32}$/)
      }
    }
  })
})

test('the verdict finds a missing act, a second one, one of no effect, and an effect that is still open', () => {
  const effect = (state: string) => ({ key: 'k', idempotencyKey: 'cf_k', state }) as never
  const done = (byKey: object, byReference: object) => ({ byKey, byReference }) as never
  assert.deepEqual(differences([effect('confirmed')], done({ cf_k: 1 }, { k: 1 })), [])
  assert.equal(differences([effect('confirmed')], done({}, {})).length, 1)
  assert.equal(differences([effect('confirmed')], done({ cf_k: 2 }, { k: 2 })).length, 1)
  assert.equal(differences([effect('confirmed')], done({ cf_k: 1, cf_x: 1 }, { k: 2 })).length, 2)
  assert.equal(differences([effect('refused')], done({ cf_k: 1 }, { k: 1 })).length, 1)
  assert.equal(differences([effect('unknown')], done({}, {})).length, 1)
})

test('the whole demo runs, twice in the same directory, and its recipient acts as the ledger says', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-demo-'))
  try {
    const run = async () => {
      const [port, recipientPort] = await freePorts()
      const parameters = [join(import.meta.dirname, 'start.ts'), '--once', '--port', port, '--recipient-port']
      return await promisify(execFile)(process.execPath, [...parameters, recipientPort], {
        env: { ...process.env, COUNTERFOIL_DEMO_DIR: directory, NODE_OPTIONS: '' },
        timeout: 180_000,
      })
    }
    const first = (await run()).stdout
    assert.match(first, /most acts for one effect: 1\n/)
    assert.match(first, /64 × .*: 1 accepted, 63 duplicate → 1 receipt, one effect/)
    assert.match(first, /1 effect-conflict/)
    assert.match(first, /1 identity-conflict/)
    assert.match(first, /1 unsupported-type/)
    assert.match(first, /15 effects → 15 reconciled: 12 by lookup, 3 by a repeat under the same key/)
    assert.match(first, /The recipient acted exactly as the ledger says\./)
    assert.ok(!first.includes('\u001b'), 'no colours where there is no terminal')
    const second = (await run()).stdout
    assert.match(second, /The ledger holds \d+ receipts already, and keeps them\./)
    assert.match(second, /15 effects → 15 reconciled/)
    assert.match(second, /The recipient acted exactly as the ledger says\./)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

async function freePorts(): Promise<[string, string]> {
  const servers = [createServer(), createServer()]
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<string>((resolve) =>
          server.listen(0, '127.0.0.1', () => resolve(String((server.address() as { port: number }).port))),
        ),
    ),
  )
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports as [string, string]
}
