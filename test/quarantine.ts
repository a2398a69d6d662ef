import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { KeyedRecipient } from './fixtures/keyed-recipient.ts'
import { DemoProcesses, end, github, type Place } from './processes.ts'

const config = join(import.meta.dirname, 'fixtures/quarantine.config.ts')
const tokens = {
  vera: 'the token of vera the viewer',
  olga: 'the token of olga the operator',
  abe: 'the token of abe the approver',
}

interface Entry {
  readonly id: string
  readonly state: string
  readonly reason: string
  readonly owner: string
  readonly assignee: string | null
  readonly version: number
  readonly eventId: string
}

/** The program in processes of its own, before its trigger is deployed. */
async function started(place: Place, environment: Record<string, string> = {}) {
  const recipient = new KeyedRecipient()
  await recipient.start()
  const processes = new DemoProcesses({ config })
  Object.assign(processes.environment, {
    COUNTERFOIL_DEMO_RECIPIENT: recipient.url,
    COUNTERFOIL_OPERATORS: `vera:viewer:${tokens.vera},olga:operator:${tokens.olga},abe:approver:${tokens.abe}`,
    ...place.environment(),
    ...environment,
  })
  await processes.startServer()
  return { recipient, processes }
}

async function deployTrigger(processes: DemoProcesses): Promise<void> {
  processes.environment.DEPLOYED = 'trigger'
  await processes.killServer('SIGTERM')
  await processes.startServer()
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 2_400; looks++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  assert.fail(`in a minute it never came to this: ${what}`)
}

/** What happens to deliveries in quarantine, by the program's own processes. */
export function quarantineByProcesses(place: Place): void {
  describe('an event that nobody handles yet', () => {
    let recipient: KeyedRecipient
    let processes: DemoProcesses
    before(async () => {
      const world = await started(place)
      recipient = world.recipient
      processes = world.processes
    })
    after(async () => {
      await processes.dispose()
      await recipient.stop()
    })

    const api = async (path: string, who: keyof typeof tokens | null, body?: object) => {
      const response = await fetch(`${processes.url}/api/v1/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(who === null ? {} : { authorization: `Bearer ${tokens[who]}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: (await response.json()) as any }
    }
    const entries = async (query = ''): Promise<Entry[]> =>
      (await api(`quarantine${query}`, 'vera')).body.quarantine
    const entryOf = async (event: string): Promise<Entry> => {
      const [entry] = await entries(`?event=${event}`)
      assert.ok(entry, `there is no entry of ${event}`)
      return entry
    }

    test('goes to quarantine, and its owner is alerted by an effect', async () => {
      for (const event of ['first', 'second', 'third', 'fourth']) {
        const number = ['first', 'second', 'third', 'fourth'].indexOf(event)
        const payload = event === 'fourth' ? { number: 'four' } : { number }
        const response = await fetch(`${processes.url}/in/github`, github('issues', event, payload))
        assert.equal(response.status, 202)
        assert.equal(((await response.json()) as { outcome: string }).outcome, 'quarantined')
      }
      await until('four alerts are posted', () => recipient.at('/messages').length === 4)
      const first = await entryOf('first')
      assert.deepEqual([first.owner, first.state, first.reason], ['triage', 'waiting', 'unsupported-type'])
      const told = recipient.at('/messages').find(({ body }) => body.text.includes(first.id))
      assert.equal(told?.body.channel, 'triage')
      const { effects } = await processes.counterfoil<{ effects: { key: string }[] }>(
        'effects',
        'show',
        `alert/quarantine/${first.id}/raised`,
      )
      assert.equal(effects.length, 1)
    })

    test('is shown to those with a token only, and changed by those with the role only', async () => {
      const { id } = await entryOf('first')
      assert.equal((await api('quarantine', null)).status, 401)
      const decision = { reason: 'r', decision: 'd', expectedVersion: 1 }
      assert.equal((await api(`quarantine/${id}/reprocess`, null, decision)).status, 401)
      const viewed = await api(`quarantine/${id}/reprocess`, 'vera', decision)
      assert.deepEqual([viewed.status, viewed.body.code], [403, 'not_authorised'])
      assert.equal((await api(`quarantine/${id}/payload`, 'vera', decision)).status, 403)
      const run = { act: 'reprocess', filter: {}, digest: 'x', ...decision }
      assert.equal((await api('quarantine/run', 'olga', run)).status, 400)
      assert.equal((await entryOf('first')).version, 1)
    })

    test('is assigned, its payload read, and each act is in the audit log', async () => {
      const { id } = await entryOf('second')
      const assigned = await processes.counterfoil<{ outcome: string; quarantine: Entry }>(
        ...['quarantine', 'assign', id, '--to', 'olga', '--version', '1'],
        ...['--operator', 'olga', '--reason', 'mine'],
      )
      assert.deepEqual([assigned.outcome, assigned.quarantine.assignee], ['assigned', 'olga'])
      const read = await api(`quarantine/${id}/payload`, 'olga', { reason: 'case 12', decision: 'read-1' })
      assert.deepEqual(JSON.parse(Buffer.from(read.body.base64, 'base64').toString()), { number: 1 })
      const { audit } = await processes.counterfoil<{ audit: { act: string; operator: string }[] }>(
        'audit',
        'list',
      )
      assert.deepEqual(
        audit.map((row) => [row.act, row.operator]),
        [
          ['quarantine.payload', 'olga'],
          ['quarantine.assign', 'olga'],
        ],
      )
    })

    test('a decision on an outdated view fails at the command line with exit code 1', async () => {
      const { id } = await entryOf('second')
      const outdated = processes.counterfoil(
        ...['quarantine', 'dismiss', id, '--version', '1', '--operator', 'olga', '--reason', 'no'],
      )
      await assert.rejects(outdated, (error: { code: number; stdout: string }) => {
        assert.equal(error.code, 1)
        assert.equal(JSON.parse(error.stdout).error.code, 'decision_stale')
        return true
      })
    })

    test('starts work once when its trigger is deployed and an operator reprocesses it, twice', async () => {
      await deployTrigger(processes)
      const { id } = await entryOf('first')
      const decision = { reason: 'the trigger is deployed', decision: 'go-1', expectedVersion: 1 }
      const done = await api(`quarantine/${id}/reprocess`, 'olga', decision)
      assert.deepEqual([done.status, done.body.outcome, done.body.repeated], [200, 'released', false])
      const again = await api(`quarantine/${id}/reprocess`, 'olga', decision)
      assert.deepEqual([again.status, again.body.outcome, again.body.repeated], [200, 'released', true])
      const other = await api(`quarantine/${id}/reprocess`, 'olga', { ...decision, decision: 'go-2' })
      assert.deepEqual([other.status, other.body.code], [409, 'quarantine_settled'])
      await until('the ticket is opened', () => recipient.at('/tickets').length > 0)
      const effects = async () =>
        (
          await processes.counterfoil<{ effects: { effect: { state: string; attempts: unknown[] } }[] }>(
            'effects',
            'show',
            'issue/0/ticket',
          )
        ).effects
      await until('it is confirmed', async () => (await effects())[0]?.effect.state === 'confirmed')
      assert.equal((await effects())[0]?.effect.attempts.length, 1)
      assert.deepEqual(
        recipient.at('/tickets').map(({ body }) => body),
        [{ issue: 0 }],
      )
    })

    test('starts no work once it was dismissed', async () => {
      const { id, version } = await entryOf('second')
      await processes.counterfoil(
        ...['quarantine', 'dismiss', id, '--version', String(version)],
        ...['--operator', 'olga', '--reason', 'a test issue'],
      )
      const late = { reason: 'after all', decision: 'go-3', expectedVersion: version + 1 }
      assert.equal((await api(`quarantine/${id}/reprocess`, 'olga', late)).status, 409)
      const copy = await fetch(`${processes.url}/in/github`, github('issues', 'second', { number: 1 }))
      assert.equal(((await copy.json()) as { outcome: string }).outcome, 'quarantined')
    })

    test('what does not fit the trigger stays, and says why, while the others go', async () => {
      const many = { act: 'reprocess', filter: { type: 'issues' } }
      const dry = await api('quarantine/dry-run', 'abe', many)
      assert.deepEqual([dry.status, dry.body.entries], [200, 2])
      const decision = { digest: dry.body.digest, reason: 'the trigger is deployed', decision: 'many-1' }
      const run = await api('quarantine/run', 'abe', { ...many, ...decision })
      assert.deepEqual([run.status, run.body.released, run.body.kept], [200, 1, 1])
      await until('the third has its ticket', () => recipient.at('/tickets').length === 2)
      const { id } = await entryOf('fourth')
      const shown = await api(`quarantine/${id}`, 'vera')
      assert.equal(shown.body.quarantine.reason, 'unsupported-type')
      assert.deepEqual(
        shown.body.notes.map((note: { reason: string; by: string }) => [note.reason, note.by]),
        [['schema-failure', 'abe']],
      )
      const tickets = recipient.at('/tickets').map(({ body }) => body.issue)
      assert.deepEqual(tickets.sort(), [0, 2])
    })

    test('the audit log verifies to its newest row', async () => {
      const check = await processes.counterfoil<{ rows: number; broken: null }>('audit', 'verify')
      assert.ok(check.rows >= 6)
      assert.equal(check.broken, null)
    })
  })

  test('kill -9 of a run over many entries: the same command goes on, and every effect is caused once', async () => {
    const count = 1_000
    const { recipient, processes } = await started(place, { ALERTS: 'off' })
    const store = place.store(processes)
    try {
      for (let sent = 0; sent < count; sent += 100) {
        const portion = Array.from({ length: 100 }, async (_, index) => {
          const number = sent + index
          const response = await fetch(
            `${processes.url}/in/github`,
            github('issues', `many-${number}`, { number }),
          )
          assert.equal(response.status, 202)
        })
        await Promise.all(portion)
      }
      await deployTrigger(processes)
      await store.open({ migrate: false })
      const filter = ['--where', 'producer=github', '--operator', 'abe']
      const { digest, entries } = await processes.counterfoil<{ digest: string; entries: number }>(
        ...['quarantine', 'reprocess', ...filter, '--dry-run'],
      )
      assert.equal(entries, count)
      const run = [
        ...['quarantine', 'reprocess', ...filter, '--digest', digest],
        ...['--reason', 'the trigger is deployed', '--decision', 'killed'],
      ]
      let parts = 0
      for (const wanted of [1, 4]) {
        const child = processes.begin(...run)
        await until(`part ${wanted} of the run is committed`, async () => {
          parts = (await store.listAudit({ partsOf: 'killed', limit: 99 })).length
          return parts >= wanted
        })
        await end(child, 'SIGKILL')
      }
      assert.ok(parts < count / 50, 'it was killed before its end')
      const report = await processes.counterfoil<{ state: string; released: number; stale: number }>(...run)
      assert.deepEqual([report.state, report.released, report.stale], ['done', count, 0])
      await until('every ticket is opened', () => recipient.at('/tickets').length >= count)
      await until('every effect is confirmed', async () => {
        const { effects, outbox } = await store.status()
        return effects.byState.confirmed === count && outbox.waiting === 0
      })
      const issues = recipient.at('/tickets').map(({ body }) => body.issue as number)
      assert.equal(new Set(issues).size, count)
      assert.equal(issues.length, count)
      const { receipts, effects } = await store.status()
      assert.deepEqual([receipts.byState.planned, effects.total], [count, count])
      assert.equal((await store.listAudit({ partsOf: 'killed', limit: 99 })).length, count / 50)
    } finally {
      await store.close()
      await processes.dispose()
      await recipient.stop()
    }
  })
}
