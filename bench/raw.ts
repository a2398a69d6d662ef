import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { benchDirectory } from './setup.ts'

/** What the disk gives to one commit at a time, a second: WAL, synchronous=FULL, a 1 kB row with a unique key. */
export function singleCommits(count: number): number {
  return rowsCommitted(count, 1)
}

/**
 * Rows a second when `atOnce` share a commit: the most that as many callers could get, each waiting for its own
 * row, if nothing but the row had to be done.
 */
export function rowsCommitted(count: number, atOnce: number): number {
  const directory = benchDirectory()
  const db = new DatabaseSync(join(directory, 'raw.db'))
  db.exec(
    'pragma journal_mode = wal; pragma synchronous = full; create table raw (id text not null unique, body blob not null) strict',
  )
  const insert = db.prepare('insert into raw (id, body) values (?, ?)')
  const body = new Uint8Array(1_000)
  const begun = performance.now()
  for (let index = 0; index < count; index++) {
    if (atOnce > 1 && index % atOnce === 0) db.exec('begin immediate')
    insert.run(`row-${index}`, body)
    if (atOnce > 1 && index % atOnce === atOnce - 1) db.exec('commit')
  }
  const rate = count / ((performance.now() - begun) / 1000)
  db.close()
  rmSync(directory, { recursive: true })
  return rate
}
