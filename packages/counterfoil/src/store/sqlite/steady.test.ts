import assert from 'node:assert/strict'
import { constants, DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { test } from 'node:test'
import { withEveryStatement } from './fixtures/plans.ts'
import { steady } from './steady.ts'

const parameter = /'[^']*'|\?(\d*)|:([a-z]\w*)/g

/** One value for every parameter, by name or by place. */
function values(sql: string): (SQLInputValue | Record<string, SQLInputValue>)[] {
  const names = new Set<string>()
  let places = 0
  for (const [whole, number, name] of sql.matchAll(parameter)) {
    if (name !== undefined) names.add(name)
    else if (whole.startsWith('?')) places = number === '' ? places + 1 : Math.max(places, Number(number))
  }
  return names.size > 0 ? [Object.fromEntries([...names].map((name) => [name, 1]))] : Array(places).fill(1)
}

/** Whether SQLite prepares the statement again when it runs again: its authorizer is asked then, and only then. */
function isPreparedAgain(db: DatabaseSync, sql: string): boolean {
  let asked = 0
  db.setAuthorizer(() => {
    asked++
    return constants.SQLITE_OK
  })
  const statement = db.prepare(sql)
  const run = () => {
    asked = 0
    try {
      statement.all(...(values(sql) as SQLInputValue[]))
    } catch (error) {
      // What the values do to the rows does not matter; that they are bound does.
      assert.match(String(error), /constraint failed|cannot store|datatype mismatch/)
    }
    return asked
  }
  db.exec('savepoint again')
  try {
    run()
    return run() > 0
  } finally {
    db.exec('rollback to again; release again')
    db.setAuthorizer(null)
  }
}

test('no statement of the store is prepared again when it runs with other values', () => {
  withEveryStatement((statements, db) => {
    const bound = statements.filter((sql) => values(sql).length > 0)
    assert.ok(bound.length > 100)
    assert.deepEqual(
      bound.filter((sql) => isPreparedAgain(db, sql)),
      [],
    )
  })
})

test('a statement as it is written would be, where a parameter decides on the plan', () => {
  const db = new DatabaseSync(':memory:')
  db.exec(
    "create table record (at integer, note text); create index record_at on record (at) where note <> 'a'",
  )
  const sql = 'select note from record where at <= ? order by at limit ?'
  assert.equal(isPreparedAgain(db, sql), true)
  assert.equal(isPreparedAgain(steady(db), sql), false)
  db.close()
})

test('literals stay as they are', () => {
  const db = steady(new DatabaseSync(':memory:'))
  const row = db.prepare("select '?1 :name' as text, ?1 as one, :name as other").get({ name: 'b' }, 'a')
  assert.deepEqual({ ...row }, { text: '?1 :name', one: 'a', other: 'b' })
  db.close()
})
