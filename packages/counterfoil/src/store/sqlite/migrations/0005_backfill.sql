-- Backfills: old deliveries through the same boundary, approved, at a rate, behind live traffic.

-- What was not checked of a receipt because an operator's approval stands for it.
alter table counterfoil_receipt add column waived text check (waived in ('freshness', 'signature'));

-- What a backfill brings waits behind everything else, however long that has come later.
alter table counterfoil_outbox add column lane integer not null default 0 check (lane in (0, 1));
drop index counterfoil_outbox_at;
create index counterfoil_outbox_at on counterfoil_outbox (at) where lane = 0;
create index counterfoil_outbox_behind on counterfoil_outbox (at) where lane = 1;

-- `plan` is what was found and approved; `run` what became of it, written with each chunk that was taken in.
create table counterfoil_backfill (
  name         text    primary key,
  state        text    not null check (state in ('planned', 'approved', 'running', 'paused', 'halted', 'done')),
  version      integer not null,
  plan         text    not null,
  run          text    not null,
  worker       text,
  lease_until  integer
) strict;

create trigger counterfoil_backfill_plan before update of plan on counterfoil_backfill
when old.state not in ('planned', 'approved') and new.plan <> old.plan
begin
  select raise(abort, 'the plan of a backfill that was begun never changes');
end;

-- What each part of the input has to be when it is taken in.
create table counterfoil_backfill_chunk (
  backfill  text    not null references counterfoil_backfill (name),
  number    integer not null,
  at        integer not null,
  before    integer not null,
  items     integer not null,
  digest    blob    not null check (length(digest) = 32),
  primary key (backfill, number)
) strict, without rowid;
