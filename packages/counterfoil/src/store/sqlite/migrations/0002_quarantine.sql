-- Quarantine as a place of work, and the audit log of what operators do.

-- SQLite changes no check in place, so the table is made anew. Producer, type and event id never change, and stand
-- here too: a filter then walks one small index instead of joining each row.
create table counterfoil_quarantine_new (
  seq            integer primary key,
  id             text    not null unique,
  receipt        integer not null unique references counterfoil_receipt (seq),
  reason         text    not null check (reason in ('unsupported-type', 'schema-failure', 'not-representable', 'identity-conflict', 'effect-conflict', 'plan-failed', 'beyond-retention')),
  detail         text    not null,
  owner          text    not null,
  at             integer not null,
  producer       text    not null,
  type           text    not null,
  event_id       text    not null,
  state          text    not null default 'waiting' check (state in ('waiting', 'released', 'dismissed')),
  version        integer not null default 1,
  assignee       text,
  attended_at    integer not null,
  changed_after  integer not null default 0  -- number of the last audit row when it last changed
) strict;

insert into counterfoil_quarantine_new (seq, id, receipt, reason, detail, owner, at, producer, type, event_id, attended_at)
select q.seq, q.id, q.receipt, q.reason, q.detail, q.owner, q.at, r.producer, r.type, r.event_id, q.at
from counterfoil_quarantine q join counterfoil_receipt r on r.seq = q.receipt;

drop table counterfoil_quarantine;
alter table counterfoil_quarantine_new rename to counterfoil_quarantine;

create trigger counterfoil_quarantine_reason
before update of id, receipt, reason, detail, owner, at, producer, type, event_id on counterfoil_quarantine
begin
  select raise(abort, 'a quarantine reason never changes');
end;

create trigger counterfoil_quarantine_dismissed before update of state on counterfoil_quarantine
when old.state = 'dismissed' and new.state <> 'dismissed'
begin
  select raise(abort, 'what was dismissed never starts work');
end;

-- What waits is found by any one of what people ask for; what is done with leaves these indexes.
create index counterfoil_quarantine_waiting on counterfoil_quarantine (seq) where state = 'waiting';
create index counterfoil_quarantine_producer on counterfoil_quarantine (producer, seq) where state = 'waiting';
create index counterfoil_quarantine_type on counterfoil_quarantine (type, seq) where state = 'waiting';
create index counterfoil_quarantine_why on counterfoil_quarantine (reason, seq) where state = 'waiting';
create index counterfoil_quarantine_owner on counterfoil_quarantine (owner, seq) where state = 'waiting';
create index counterfoil_quarantine_assignee on counterfoil_quarantine (assignee, seq) where state = 'waiting';
create index counterfoil_quarantine_state on counterfoil_quarantine (state, seq) where state <> 'waiting';
-- Receipts in quarantine, whether they wait or were dismissed.
create index counterfoil_quarantine_held on counterfoil_quarantine (receipt) where state <> 'released';
create index counterfoil_quarantine_unattended on counterfoil_quarantine (attended_at) where state = 'waiting' and assignee is null;

create table counterfoil_quarantine_note (
  seq     integer primary key,
  entry   integer not null references counterfoil_quarantine (seq),
  at      integer not null,
  reason  text    not null,
  detail  text    not null,
  by      text    not null
) strict;
create index counterfoil_quarantine_note_entry on counterfoil_quarantine_note (entry, seq);

alter table counterfoil_alert add column occasion text not null default 'raised';

-- Append-only; each row's digest covers the row before (domain/audit-chain.ts).
create table counterfoil_audit (
  number    integer primary key,
  at        integer not null,
  operator  text    not null,
  role      text    not null check (role in ('viewer', 'operator', 'approver')),
  act       text    not null,
  subject   text    not null,
  decision  text    not null unique,
  reason    text    not null,
  detail    text    not null,
  result    text    not null,
  digest    blob    not null check (length(digest) = 32)
) strict;

create trigger counterfoil_audit_kept before update on counterfoil_audit
begin
  select raise(abort, 'the audit log is only appended to');
end;

create trigger counterfoil_audit_whole before delete on counterfoil_audit
begin
  select raise(abort, 'the audit log is only appended to');
end;
