import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { delivery } from '../conformance/given.ts'
import { backlogStatement } from './backlog.ts'
import { describeOn } from './fixtures/describe-on.ts'
import { postgres } from './index.ts'
import { readingStatements } from './read.ts'
import { steady } from './settings.ts'
import type { Statement } from './statement.ts'
import { writingStatements } from './statements.ts'

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

  const { receiptsIn, ...others } = readingStatements('plans')
  const statements: Statement[] = [
    ...Object.values(writingStatements('plans')),
    ...Object.values(receiptsIn),
    ...Object.values(others),
    backlogStatement('plans'),
  ]
  for (const { name, text } of statements) {
    test(`keeps to the indexes when they have grown: ${name}`, async () => {
      const { rows } = await client.query(`explain (generic_plan, costs off) ${text}`)
      const plan = rows.map((row) => row['QUERY PLAN'] as string)
      // Totals and migrations are few rows without an index. A status counts what is open: all of a small table.
      const few = name === 'counterfoil_status' ? /Seq Scan on (tally|migration|open)/ : /Seq Scan on tally/
      const wholeTables = plan.filter((line) => /Seq Scan/.test(line) && !few.test(line))
      assert.deepEqual(wholeTables, [])
      assert.deepEqual(
        plan.filter((line) => /Hash (Right |Left |Anti |Semi )?Join|Merge .*Join/.test(line)),
        [],
      )
    })
  }
})
