import type { Migration } from '../migrations.ts'

/** Never edited once published: their checksums are kept in the database. */
export const migrations: readonly Migration[] = [
  {
    name: '0001_guard',
    sql: `
-- id is a digest of caller and key; key is for people. status null: a tombstone. body null beside a status: a marker.
-- Times are milliseconds since the Unix epoch.
create table {prefix}key (
  id bytea primary key,
  key text not null,
  fingerprint text,
  status smallint,
  headers text,
  body bytea,
  planned_at bigint,
  at bigint not null,
  expires_at bigint
);
create index {prefix}key_expiry on {prefix}key (expires_at) where expires_at is not null;
-- The highest version that acted in each ordering domain. Never cleaned: an older one may come at any time.
-- Rows are updated in place again and again: room on the page keeps those updates off the index.
create table {prefix}fence (
  id bytea primary key,
  domain text not null,
  version bigint not null,
  raised_at bigint not null
) with (fillfactor = 70);
`,
  },
]
