import assert from 'node:assert/strict'
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { CounterfoilError } from '../../domain/index.ts'
import { accepted, rejects } from '../conformance/given.ts'
import { mayMount, run } from './fixtures/child.ts'
import { temporaryDirectory } from './fixtures/temporary.ts'
import { sqlite } from './index.ts'

const directory = temporaryDirectory()
after(() => directory.remove())
let files = 0
const newPath = () => join(directory.path, `store-${++files}.db`)

async function made(): Promise<string> {
  const path = newPath()
  const store = sqlite(path)
  await store.open({ migrate: true })
  await accepted(store)
  await store.close()
  return path
}

function edit(path: string, sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}

async function refuses(
  path: string,
  code: CounterfoilError['code'],
  says: RegExp,
  migrate = true,
): Promise<void> {
  const store = sqlite(path, { busyTimeoutMs: 200 })
  await assert.rejects(store.open({ migrate }), (error) => {
    assert.ok(error instanceof CounterfoilError)
    assert.equal(error.code, code, error.message)
    assert.ok(error.message.includes(path), `'${error.message}' does not name the file`)
    assert.match(`${error.message} ${error.hint}`, says)
    return true
  })
  await rejects(store.status(), 'store_closed')
  await store.close()
}

describe('opening a file', () => {
  test('that does not exist makes it, but only when migrating', async () => {
    const path = newPath()
    await refuses(path, 'store_unavailable', /no store at/, false)
    assert.equal(existsSync(path), false)
    const store = sqlite(path)
    const report = await store.open({ migrate: true })
    assert.equal(report.from, 0)
    assert.deepEqual(report.applied.slice(0, 2), ['0001_ledger.sql', '0002_quarantine.sql'])
    await store.close()
  })

  test('in a directory that does not exist says so', async () => {
    await refuses(join(directory.path, 'nowhere', 'store.db'), 'store_unavailable', /directory/)
  })

  test('that is a directory says so', async () => {
    const path = newPath()
    mkdirSync(path)
    await refuses(path, 'store_unavailable', /unable to open/)
  })

  test('that is no database refuses it and leaves it as it is', async () => {
    const path = newPath()
    const text = 'These are notes, not a database.\n'.repeat(200)
    writeFileSync(path, text)
    await refuses(path, 'store_corrupt', /not a database/)
    assert.equal(readFileSync(path, 'utf8'), text)
  })

  test('of another application refuses it and leaves it as it is', async () => {
    const path = newPath()
    edit(path, 'pragma application_id = 252006673; create table t (a)')
    const before = readFileSync(path)
    await refuses(path, 'store_corrupt', /another application/)
    assert.deepEqual(readFileSync(path), before)
  })

  test('with the program’s own tables makes ours beside them', async () => {
    const path = newPath()
    edit(path, 'create table customer (id integer primary key); insert into customer values (1)')
    const store = sqlite(path)
    await store.open({ migrate: true })
    await store.close()
    const db = new DatabaseSync(path)
    assert.equal(db.prepare('select count(*) as rows from customer').get()?.rows, 1)
    db.close()
  })

  test('of a newer version refuses it', async () => {
    const path = await made()
    edit(path, "insert into counterfoil_migration values (99, '0099_future.sql', 'x', 0)")
    await refuses(path, 'store_schema_newer', /newer version/)
  })

  test('that needs a migration which is not allowed says how to migrate', async () => {
    const path = newPath()
    edit(path, 'create table customer (id)')
    await refuses(path, 'store_schema_older', /counterfoil migrate/, false)
  })

  test('whose migration is not the one of this version refuses it', async () => {
    const path = await made()
    edit(path, "update counterfoil_migration set checksum = 'other'")
    await refuses(path, 'store_migration_changed', /0001_ledger\.sql/)
  })

  test('whose header is damaged says that it is damaged', async () => {
    const path = await made()
    writeSync(openSync(path, 'r+'), Buffer.alloc(100, 0x2a), 0, 100, 0)
    await refuses(path, 'store_corrupt', /backup/)
  })

  test('whose pages are damaged fails the calls that meet them, and says so', async () => {
    const path = await made()
    const size = readFileSync(path).length
    const file = openSync(path, 'r+')
    // All but the schema.
    for (let at = 4_096 * 2; at < size; at += 4_096) writeSync(file, Buffer.alloc(4_096, 0x2a), 0, 4_096, at)
    const store = sqlite(path)
    const opened = store.open({ migrate: true }).then(() => store.listReceipts({ limit: 10 }))
    await rejects(opened, 'store_corrupt')
    await store.close()
  })

  test('in a place that may only be read says so', async (t) => {
    if (!mayMount(t)) return
    const mount = join(directory.path, 'read-only')
    mkdirSync(mount)
    run('mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', mount)
    try {
      const path = join(mount, 'store.db')
      const store = sqlite(path)
      await store.open({ migrate: true })
      await store.close()
      run('mount', '-o', 'remount,ro', mount)
      await refuses(path, 'store_read_only', /writable/)
    } finally {
      run('umount', mount)
    }
  })
})

test('a store is a file: memory and nonsense are refused at once', () => {
  for (const path of [':memory:', '']) assert.throws(() => sqlite(path), { code: 'config_invalid' })
  for (const busyTimeoutMs of [-1, 1.5, Number.NaN, 1e9]) {
    assert.throws(() => sqlite('x.db', { busyTimeoutMs }), { code: 'config_invalid' })
  }
})
