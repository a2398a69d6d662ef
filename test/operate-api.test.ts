import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { counterfoil, producer, recipient, trigger } from 'counterfoil'
import { github } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { z } from 'zod'
import { newToken } from '../packages/counterfoil/src/operate/index.ts'
import { type Server, serve } from '../packages/counterfoil/src/server/index.ts'
import { github as signed } from './processes.ts'

const secret = 'a secret of the producer'
const people = {
  vera: 'viewer',
  olga: 'operator',
  omar: 'operator',
  abe: 'approver',
  ada: 'approver',
} as const
type Person = keyof typeof people

/** A recipient that may lose its answer, and then tells what became of it when it is asked. */
function till() {
  const loses = new Set<string>()
  const lookups = new Map<string, 'acted' | 'absent' | 'nothing'>()
  const contract = {
    idempotency: { header: 'Key', remembersFor: '24h', otherPayload: 'refused', replays: 'nothing' },
    lookup: { by: 'function', after: '12h', absence: { final: false } },
    ordering: { tombstone: { method: 'PUT', path: '/{key}' } },
  } as const
  const closed: string[] = []
  const self = recipient('till', {
    contract,
    call: async ({ ticket }: { ticket: number }, { effectKey }) => {
      if (loses.has(effectKey)) throw new Error('the answer was lost')
      return { ticket }
    },
    classify: (result) =>
      'answer' in result
        ? {
            kind: 'confirmed',
            why: 'it says so',
            correlation: `op_${(result.answer as { ticket: number }).ticket}`,
          }
        : undefined,
    lookup: async ({ effectKey }) => lookups.get(effectKey) ?? 'nothing',
    tombstone: async ({ effectKey }) => {
      closed.push(effectKey)
      return 'closed'
    },
  })
  return { self, loses, lookups, closed }
}

describe('operators and effects', () => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-operate-'))
  const tokens = Object.fromEntries(Object.keys(people).map((name) => [name, newToken()]))
  const place = till()
  const options = {
    payload: z.object({ ticket: z.number() }),
    request: (payload: { ticket: number }) => payload,
  }
  const open = place.self.effect('ticket.open', options)
  const pay = place.self.effect('ticket.pay', options)
  const issues = producer('github', github({ secrets: secret })).event('issues', {
    schema: z.object({ number: z.number(), pays: z.boolean().default(false) }),
  })
  const app = counterfoil({
    store: sqlite(join(directory, 'counterfoil.db')),
    operators: Object.entries(people).map(([name, role]) => ({ name, role, token: tokens[name]!.kept })),
    twoPersons: { effects: ['ticket.pay'] },
    triggers: [
      trigger('open a ticket', {
        on: issues,
        plan: ({ data }, { effect }) => {
          const { number: ticket } = data
          if (data.pays) effect(pay, { key: `issue/${ticket}/pay`, payload: { ticket } })
          else effect(open, { key: `issue/${ticket}/ticket`, payload: { ticket } })
        },
      }),
    ],
    recipients: [place.self],
    log: () => {},
  })
  let server: Server
  before(async () => {
    server = await serve(app, { port: 0 })
  })
  after(async () => {
    await server.stop()
    rmSync(directory, { recursive: true })
  })

  async function api(who: Person, path: string, body?: object): Promise<{ status: number; body: any }> {
    const response = await fetch(`${server.url}/api/v1/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${tokens[who]!.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }
  const got = async (path: string, who: Person = 'vera') => {
    const { status, body } = await api(who, path)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  async function until<Value>(what: string, look: () => Promise<Value | undefined | false>): Promise<Value> {
    for (let looks = 0; looks < 2_400; looks++) {
      const value = await look()
      if (value) return value
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    return assert.fail(`in a minute it never came to this: ${what}`)
  }
  let sent = 0
  /** A new effect that is unknown, or confirmed. */
  async function effect(about: { loses: boolean; pays?: boolean }) {
    const number = ++sent
    const key = `issue/${number}/${about.pays === true ? 'pay' : 'ticket'}`
    if (about.loses) place.loses.add(key)
    const delivery = signed('issues', `delivery-${number}`, { number, pays: about.pays ?? false }, secret)
    const response = await fetch(`${server.url}/in/github`, delivery)
    const { receipt } = (await response.json()) as { receipt: string }
    const wanted = about.loses ? 'unknown' : 'confirmed'
    return await until(`${key} is ${wanted}`, async () => {
      const { effects } = await got(`search?q=${encodeURIComponent(key)}`)
      return effects[0]?.state === wanted && { ...effects[0], receipt, number }
    })
  }
  let decisions = 0
  const deciding = (version: number, more: object = {}) => ({
    reason: 'a customer asked',
    decision: `decision-${++decisions}`,
    expectedVersion: version,
    ...more,
  })
  const evidence = { says: 'the till shows it under op_77', correlation: 'op_77' }

  test('whoever asks is told who he is and what he may do', async () => {
    const me = await got('me', 'vera')
    assert.deepEqual([me.name, me.role], ['vera', 'viewer'])
    assert.ok(me.acts.includes('effects.show') && !me.acts.includes('effects.confirm'))
    assert.ok((await got('me', 'abe')).acts.includes('effects.approve'))
  })

  test('every name of a thing finds it', async () => {
    const { id, key, idempotencyKey, fingerprint, receipt, number } = await effect({ loses: false })
    const shown = await got(`receipts/${receipt}`)
    const by = async (name: string) => {
      const found = await got(`search?q=${encodeURIComponent(name)}`)
      return [...found.receipts, ...found.effects].map((one: any) => [one.by, one.id])
    }
    assert.deepEqual(await by(id), [['id', id]])
    assert.deepEqual(await by(key), [['key', id]])
    assert.deepEqual(await by(key.slice(0, -3)), [['key', id]])
    assert.deepEqual(await by(idempotencyKey), [['idempotency-key', id]])
    assert.deepEqual(await by(`op_${number}`), [['correlation', id]])
    assert.deepEqual(await by(receipt), [['id', receipt]])
    assert.deepEqual(await by(shown.receipt.eventId), [['event-id', receipt]])
    assert.deepEqual(await by(shown.receipt.fingerprint), [['fingerprint', receipt]])
    assert.deepEqual(await by(fingerprint), [['fingerprint', id]])
    assert.deepEqual(await by('no such name'), [])
    assert.equal((await api('vera', 'search?q=')).status, 400)
  })

  test('an effect is told from its receipt to its evidence, with what may be done and why not', async () => {
    const { id, receipt } = await effect({ loses: true })
    const story = await got(`effects/${id}`)
    assert.deepEqual(
      story.timeline.map(({ kind }: { kind: string }) => kind),
      ['receipt', 'planned', 'attempt', 'answer'],
    )
    assert.equal(story.causes[0].receipt, receipt)
    const actions = Object.fromEntries(story.actions.map((one: any) => [one.act, one]))
    assert.deepEqual(
      story.actions.map(({ act, offered }: any) => [act, offered]),
      [
        ['ask', true],
        ['repeat', false],
        ['place-tombstone', true],
        ['confirm', true],
        ['refuse', true],
        ['withdraw', true],
      ],
    )
    assert.match(actions.repeat.why, /asked before anything is repeated/)
    assert.equal(actions.confirm.needsEvidence, true)
    const { unknown } = await got('unknown?recipient=till')
    assert.ok(unknown.some((one: any) => one.effect.id === id && one.actions.length === 6))
    const confirmed = await got(`effects/${(await effect({ loses: false })).id}`)
    assert.ok(confirmed.actions.every(({ offered, why }: any) => !offered && /final/.test(why)))
  })

  test('to ask the recipient now moves the effect by what it says, in the name of who asked', async () => {
    const { id, key, version } = await effect({ loses: true })
    place.lookups.set(key, 'acted')
    const asked = await api('olga', `effects/${id}/ask`, deciding(version))
    assert.equal(asked.status, 200)
    assert.deepEqual([asked.body.outcome, asked.body.effect.state], ['asked', 'confirmed'])
    const last = asked.body.effect.evidence.at(-1)
    assert.deepEqual([last.kind, last.by], ['lookup', 'olga'])
    const { audit } = await got(`audit?subject=${id}`)
    assert.deepEqual(
      audit.map(({ act, operator }: any) => [act, operator]),
      [['effects.ask', 'olga']],
    )
  })

  test('a tombstone is placed at the recipient, and the effect is withdrawn', async () => {
    const { id, key, version } = await effect({ loses: true })
    const placed = await api('olga', `effects/${id}/place-tombstone`, deciding(version))
    assert.deepEqual([placed.body.outcome, placed.body.effect.state], ['asked', 'withdrawn'])
    assert.deepEqual(place.closed, [key])
  })

  test('a decision stands on evidence, is made once, and on what the effect says now', async () => {
    const { id, version } = await effect({ loses: true })
    const bare = await api('olga', `effects/${id}/confirm`, deciding(version))
    assert.deepEqual([bare.status, bare.body.code], [400, 'decision_invalid'])
    const old = await api('olga', `effects/${id}/confirm`, deciding(version - 1, { evidence }))
    assert.deepEqual([old.status, old.body.code], [409, 'decision_stale'])
    const decision = deciding(version, { evidence })
    const decided = await api('olga', `effects/${id}/confirm`, decision)
    assert.deepEqual(
      [decided.status, decided.body.effect.state, decided.body.repeated],
      [200, 'confirmed', false],
    )
    const last = decided.body.effect.evidence.at(-1)
    assert.deepEqual(
      [last.kind, last.why, last.correlation, last.by],
      ['operator', evidence.says, 'op_77', 'olga'],
    )
    const again = await api('olga', `effects/${id}/confirm`, decision)
    assert.deepEqual([again.status, again.body.outcome, again.body.repeated], [200, 'decided', true])
    const other = await api('olga', `effects/${id}/refuse`, decision)
    assert.deepEqual([other.status, other.body.code], [409, 'decision_id_used'])
    const late = await api('olga', `effects/${id}/refuse`, deciding(version + 1, { evidence }))
    assert.deepEqual([late.status, late.body.code], [409, 'action_refused'])
    const { effects } = await got('search?q=op_77')
    assert.equal(effects[0].id, id)
  })

  test('above the limit a second person, who is an approver and another one, has to confirm', async () => {
    const { id, version } = await effect({ loses: true, pays: true })
    const proposed = await api(
      'abe',
      `effects/${id}/refuse`,
      deciding(version, { evidence, decision: 'pay-1' }),
    )
    assert.deepEqual(
      [proposed.status, proposed.body.outcome, proposed.body.effect.state],
      [200, 'proposed', 'unknown'],
    )
    const { proposal } = await got(`effects/${id}`)
    assert.deepEqual([proposal.decision, proposal.act, proposal.by], ['pay-1', 'refuse', 'abe'])
    const answer = { ...deciding(version), proposal: 'pay-1' }
    const self = await api('abe', `effects/${id}/approve`, answer)
    assert.deepEqual([self.status, self.body.code], [403, 'second_person_needed'])
    assert.equal((await api('omar', `effects/${id}/approve`, answer)).status, 403)
    const none = await api('ada', `effects/${id}/approve`, { ...deciding(version), proposal: 'pay-2' })
    assert.deepEqual([none.status, none.body.code], [404, 'not_found'])
    const approved = await api('ada', `effects/${id}/approve`, answer)
    assert.deepEqual(
      [approved.status, approved.body.outcome, approved.body.effect.state],
      [200, 'decided', 'refused'],
    )
    assert.equal(approved.body.effect.evidence.at(-1).by, 'abe and ada')
    const again = await api('ada', `effects/${id}/approve`, answer)
    assert.deepEqual([again.status, again.body.repeated], [200, true])
  })

  test('a rejected proposal is gone, and another may be made', async () => {
    const { id, version } = await effect({ loses: true, pays: true })
    await api('olga', `effects/${id}/withdraw`, deciding(version, { evidence, decision: 'pay-3' }))
    const rejected = await api('ada', `effects/${id}/reject`, { ...deciding(version), proposal: 'pay-3' })
    assert.deepEqual([rejected.body.outcome, rejected.body.proposal], ['rejected', null])
    const late = await api('abe', `effects/${id}/approve`, { ...deciding(version), proposal: 'pay-3' })
    assert.equal(late.status, 404)
    const proposed = await api('olga', `effects/${id}/withdraw`, deciding(version, { evidence }))
    assert.equal(proposed.body.outcome, 'proposed')
  })

  test('a payload and a request are opened for a role and a reason, and that is audited', async () => {
    const { id, receipt, number } = await effect({ loses: false })
    const act = { reason: 'case 12' }
    const read = await api('olga', `receipts/${receipt}/payload`, { ...act, decision: 'read-1' })
    assert.equal(JSON.parse(Buffer.from(read.body.base64, 'base64').toString()).number, number)
    const request = await api('olga', `effects/${id}/request`, { ...act, decision: 'read-2' })
    assert.match(Buffer.from(request.body.base64, 'base64').toString(), new RegExp(`"ticket":${number}`))
    assert.equal(
      (await api('vera', `receipts/${receipt}/payload`, { ...act, decision: 'read-3' })).status,
      403,
    )
    assert.equal((await api('vera', `effects/${id}/request`, { ...act, decision: 'read-4' })).status, 403)
    assert.equal((await got(`audit?subject=${id}`)).audit[0].act, 'effects.request')
  })

  test('the overview counts, says what waits and since when, and how recipients do', async () => {
    const now = await got('overview')
    assert.equal(now.status.effects.total, sent)
    assert.ok(now.status.effects.byState.unknown > 0)
    assert.ok(now.waitingSince.unknown > 0)
    assert.equal(now.waitingSince.planned, null)
    const [place] = now.recipients
    assert.equal(place.recipient, 'till')
    assert.equal(place.open.unknown.count, now.status.effects.byState.unknown)
    assert.ok(place.recent.unknown > 0 && place.recent.confirmed > 0 && place.lastConfirmedAt > 0)
    assert.equal(place.health, 'unsteady')
    assert.equal(now.rates.buckets.length, 60)
    assert.equal(now.rates.buckets[0].receipts, null)
    assert.ok(now.rates.buckets.at(-1).receipts > 0)
  })

  test('receipts, effects and recipients are listed', async () => {
    const first = await got('receipts?limit=2&producer=github')
    assert.equal(first.receipts.length, 2)
    const second = await got(`receipts?limit=100&before=${first.next}`)
    assert.deepEqual([second.receipts.length, second.next], [sent - 2, null])
    assert.equal((await got('effects?recipient=till&limit=100')).effects.length, sent)
    const confirmed = (await got('effects?recipient=till&state=confirmed')).effects
    assert.ok(confirmed.length > 0 && confirmed.every(({ state }: any) => state === 'confirmed'))
    const { recipients } = await got('recipients')
    assert.match(recipients[0].inWords.join('\n'), /It closes keys/)
    assert.equal((await api('vera', 'effects?state=odd')).status, 400)
  })
})
