import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { delivery } from '../conformance/given.ts'
import { auditStatements } from './audit.ts'
import { backfillStatements } from './backfill.ts'
import { backlogStatement } from './backlog.ts'
import { stateStatement } from './effect-decide.ts'
import { eraseStatements, retentionStateStatement } from './erase.ts'
import { describeOn } from './fixtures/describe-on.ts'
import { forgetStatements } from './forget-statements.ts'
import { postgres } from './index.ts'
import { markerKeyStatements } from './marks.ts'
import { decideStatements } from './quarantine-decide.ts'
import { quarantineStatements } from './quarantine-list.ts'
import { readingStatements } from './read.ts'
import { searchStatements } from './search.ts'
import { steady } from './settings.ts'
import type { Statement } from './statement.ts'
import { writingStatements } from './statements.ts'
import { surveyStatements } from './survey.ts'

describeOn(18, 'the plan of each statement, made while the tables were empty or small,', (server) => {
  let client: pg.Client
  before(async () => {
    const store = postgres(server.url(), { schema: 'plans' })
    await store.open({ migrate: true })
    await store.acceptAll(Array.from({ length: 100 }, () => delivery()))
    await store.close()
    await server.query('analyze')
    const options = Object.entries(steady).map(([name, value]) => `-c ${name}=${value}`)
    client = new pg.Client({ connectionString: server.url(), options: options.join(' ') })
    await client.connect()
  })
  after(async () => {
    await client.end()
  })

  async function planOf(text: string): Promise<string[]> {
    const { rows } = await client.query(`explain (generic_plan, costs off) ${text}`)
    return rows.map((row) => row['QUERY PLAN'] as string)
  }

  const { receiptsIn, ...others } = readingStatements('plans')
  const { walks, ...ofQuarantine } = quarantineStatements('plans')
  const statements: Statement[] = [
    ...Object.values(writingStatements('plans')),
    ...Object.values(receiptsIn),
    ...Object.values(others),
    backlogStatement('plans'),
    ...Object.values(ofQuarantine),
    ...Object.values(walks).flatMap(({ down, up }) => [down.page, down.last, up.page, up.last]),
    ...Object.values(decideStatements('plans')),
    ...Object.values(auditStatements('plans')),
    ...Object.values(backfillStatements('plans')),
    ...Object.values(forgetStatements('plans').looks),
    ...Object.values(forgetStatements('plans').take),
    ...Object.values(eraseStatements('plans')),
    ...Object.values(markerKeyStatements('plans')),
    retentionStateStatement('plans'),
    ...Object.values(searchStatements('plans')),
    ...Object.values(surveyStatements('plans')),
    stateStatement('plans'),
  ]
  for (const { name, text } of statements) {
    test(`keeps to the indexes when they have grown: ${name}`, async () => {
      const plan = await planOf(text)
      // Totals and migrations are few rows without an index. A status counts what is open: all of a small table.
      const few = /_status$|_survey_open$/.test(name)
        ? /Seq Scan on (tally|migration|open)/
        : name === 'counterfoil_backfill_all'
          ? /Seq Scan on backfill$/
          : /Seq Scan on tally/
      const wholeTables = plan.filter((line) => /Seq Scan/.test(line) && !few.test(line))
      assert.deepEqual(wholeTables, [])
      assert.deepEqual(
        plan.filter((line) => /Hash (Right |Left |Anti |Semi )?Join|Merge .*Join/.test(line)),
        [],
      )
    })
  }

  const indexes = {
    assignee: 'quarantine_assignee',
    type: 'quarantine_type',
    owner: 'quarantine_owner',
    producer: 'quarantine_producer',
    reason: 'quarantine_why',
    waiting: 'quarantine_waiting',
    state: 'quarantine_state',
    all: 'quarantine_pkey',
  } as const
  for (const [lead, index] of Object.entries(indexes)) {
    test(`walks its own index without sorting: entries by ${lead}`, async () => {
      const { down, up } = walks[lead as keyof typeof indexes]
      for (const { text } of [down.page, down.last, up.page, up.last]) {
        const plan = await planOf(text)
        assert.ok(
          plan.some((line) => new RegExp(`Index (Only )?Scan (Backward )?using ${index} `).test(line)),
          plan.join('\n'),
        )
        assert.ok(!plan.some((line) => /Sort/.test(line)), plan.join('\n'))
      }
    })
  }

  const { effectsAt, effectsEnded, effectsEndedAt, confirmedAt, endOfConfirmedAt } =
    readingStatements('plans')
  for (const [{ name, text }, index] of [
    [effectsAt, 'effect_recipient'],
    [effectsEnded, 'final_state'],
    [effectsEndedAt, 'final_recipient'],
    [confirmedAt, 'effect_recipient'],
    [endOfConfirmedAt, 'effect_recipient'],
    [surveyStatements('plans').attempts, 'effect_recipient'],
  ] as const) {
    test(`walks the index of one value, whatever the planner believes of it, without sorting: ${name}`, async () => {
      const plan = await planOf(text)
      const walks = plan.findIndex((line) =>
        new RegExp(`Index (Only )?Scan Backward using ${index} `).test(line),
      )
      assert.ok(walks >= 0, plan.join('\n'))
      assert.match(plan[walks + 1] ?? '', /Index Cond: \(\(?ROW\(/)
      const before = plan.slice(0, walks)
      // Beyond the walk only its few rows are sorted: those of a survey, to be counted.
      const sorts =
        before.some((line) => /Sort(?! Key)/.test(line)) && !before.some((line) => /Aggregate/.test(line))
      assert.ok(!sorts && !plan.some((line) => /Gather/.test(line)), plan.join('\n'))
    })
  }

  const planning = writingStatements('plans')
  for (const { name, text } of [planning.plan, planning.planOne, planning.planFresh, planning.planFreshOne]) {
    test(`finds a known effect by its key, not among all of its recipient's: ${name}`, async () => {
      const plan = await planOf(text)
      assert.ok(
        plan.some((line) => line.includes('using effect_key')),
        plan.join('\n'),
      )
      assert.ok(!plan.some((line) => line.includes('using effect_recipient')), plan.join('\n'))
    })
  }

  const { planFresh, planFreshOne, claim, settleFirst, settleFirstOne, takeDue, takeDueLimited } = planning
  const hot = [planFresh, planFreshOne, claim, settleFirst, settleFirstOne, takeDue, takeDueLimited]
  for (const { name, text } of hot) {
    test(`compares no row of a batch with each other one: ${name}`, async () => {
      const plan = await planOf(text)
      // Recipients are few.
      const joins = plan.filter(
        (line) => /Join Filter/.test(line) && !/\.recipient = .*\.recipient/.test(line),
      )
      assert.deepEqual(joins, [])
    })
  }

  test('finds what nobody attends to in the order of its index, without sorting', async () => {
    const plan = await planOf(writingStatements('plans').alertUnattended.text)
    assert.ok(
      plan.some((line) => line.includes('using quarantine_unattended')),
      plan.join('\n'),
    )
    assert.ok(!plan.some((line) => /Sort/.test(line)), plan.join('\n'))
  })
})
