import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { benchDirectory } from './setup.ts'

/** What the disk gives to one commit at a time, a second: WAL, synchronous=FULL, a 1 kB row with a unique key. */
export function singleCommits(count: number): number {
  const directory = benchDirectory()
  const db = new DatabaseSync(join(directory, 'raw.db'))
  db.exec(
    'pragma journal_mode = wal; pragma synchronous = full; create table raw (id text not null unique, body blob not null) strict',
  )
  const insert = db.prepare('insert into raw (id, body) values (?, ?)')
  const body = new Uint8Array(1_000)
  const begun = performance.now()
  for (let index = 0; index < count; index++) insert.run(`row-${index}`, body)
  const rate = count / ((performance.now() - begun) / 1000)
  db.close()
  rmSync(directory, { recursive: true })
  return rate
}
