import type { Migration } from '../migrations.ts'

/** Never edited once published: their checksums are kept in the database. */
export const migrations: readonly Migration[] = [
  {
    name: '0001_guard',
    sql: `
-- id is a digest of caller and key; key is for people. status null: a tombstone. body null beside a status: a marker.
create table {prefix}key (
  id blob not null primary key,
  key text not null,
  fingerprint text,
  status integer,
  headers text,
  body blob,
  planned_at integer,
  at integer not null,
  expires_at integer
) strict;
create index {prefix}key_expiry on {prefix}key (expires_at) where expires_at is not null;
-- The highest version that acted in each ordering domain. Never cleaned: an older one may come at any time.
create table {prefix}fence (
  id blob not null primary key,
  domain text not null,
  version integer not null,
  raised_at integer not null
) strict, without rowid;
`,
  },
]
