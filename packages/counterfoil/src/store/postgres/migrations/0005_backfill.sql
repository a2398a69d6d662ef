-- Backfills: old deliveries through the same boundary, approved, at a rate, behind live traffic.

-- What was not checked of a receipt because an operator's approval stands for it: `freshness` or `signature`.
-- Without a check: it would read the whole table.
alter table receipt add column waived text;

-- What a backfill brings waits behind everything else, however long that has come later.
alter table outbox add column lane smallint not null default 0;
drop index outbox_at;
create index outbox_at on outbox (producer, at) where lane = 0;
create index outbox_behind on outbox (at) where lane = 1;

-- `plan` is what was found and approved; `run` what became of it, written with each chunk that was taken in.
create table backfill (
  name         text   collate "C" primary key,
  state        text   not null check (state in ('planned', 'approved', 'running', 'paused', 'halted', 'done')),
  version      bigint not null,
  plan         text   not null,
  run          text   not null,
  worker       text,
  lease_until  bigint                     -- by the database's clock
) with (fillfactor = 50);

create trigger backfill_plan before update on backfill for each row
  when (old.state not in ('planned', 'approved') and new.plan <> old.plan)
  execute function refuse('the plan of a backfill that was begun never changes');

-- What each part of the input has to be when it is taken in.
create table backfill_chunk (
  backfill  text    collate "C" not null,
  number    bigint  not null,
  at        bigint  not null,
  before    bigint  not null,
  items     integer not null,
  digest    bytea   not null check (length(digest) = 32),
  primary key (backfill, number)
);
