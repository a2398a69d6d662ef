import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { skipLoudly } from '../../testing/skip.ts'
import { acceptStatement } from './accept.ts'
import { beginRepeatStatement, renewStatement, takeDueStatement } from './due.ts'
import { missing } from './fixtures/binaries.ts'
import { Server } from './fixtures/server.ts'
import { postgres } from './index.ts'
import { claimStatement, giveUpStatement, postponeStatement } from './outbox.ts'
import { planStatement } from './plan.ts'
import { settleStatement } from './settle.ts'
import { type Statement, steadyPlans } from './statement.ts'

// Each statement is planned once a connection, perhaps while its tables are empty, and used until they are large.

const why = missing(18)
const schema = 'counterfoil'
const statements: readonly Statement[] = [
  acceptStatement(schema),
  claimStatement(schema),
  planStatement(schema),
  postponeStatement(schema, 'outbox'),
  giveUpStatement(schema),
  takeDueStatement(schema),
  beginRepeatStatement(schema),
  renewStatement(schema),
  settleStatement(schema),
]

let server: Server
let client: pg.Client

before(async () => {
  if (why !== undefined) return
  server = await Server.start(18)
  const store = postgres(server.url())
  await store.open({ migrate: true })
  await store.close()
  client = new pg.Client({ connectionString: server.url(), options: steadyPlans })
  await client.connect()
  // Now the planner knows that the tables are empty.
  await client.query('vacuum analyze')
})
after(async () => {
  await client?.end()
  await server?.dispose()
})

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly Node[]
}

/** What reads a table of ours other than by a key; the recursive walk over producers reads one row of outbox_at. */
function readsWhole(node: Node): string[] {
  const own =
    /Scan$/.test(node['Node Type']) &&
    node['Relation Name'] !== undefined &&
    node['Index Cond'] === undefined &&
    node['Index Name'] !== 'outbox_at'
      ? [`${node['Node Type']} of ${node['Relation Name']}`]
      : []
  return [...own, ...(node.Plans ?? []).flatMap(readsWhole)]
}

for (const { name, text } of statements) {
  test(`${name}, planned on empty tables, still finds its rows by keys`, async (t) => {
    if (why !== undefined) return skipLoudly(t, why)
    const { rows } = await client.query(`explain (generic_plan, format json) ${text}`)
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: Node }]
    assert.deepEqual(readsWhole(plan), [])
  })
}
