-- Quarantine as a place of work, and the audit log of what operators do.

-- Producer, type and event id never change, and stand here too: a filter then walks one small index instead of
-- joining each row.
alter table quarantine drop constraint quarantine_reason_check;
alter table quarantine
  add check (reason in ('unsupported-type', 'schema-failure', 'not-representable', 'identity-conflict', 'effect-conflict', 'plan-failed', 'beyond-retention')),
  add column producer       text    collate "C",
  add column type           text    collate "C",
  add column event_id       text    collate "C",
  add column state          text    collate "C" not null default 'waiting' check (state in ('waiting', 'released', 'dismissed')),
  add column version        bigint  not null default 1,
  add column assignee       text    collate "C",
  add column attended_at    bigint,
  add column changed_after  bigint  not null default 0;  -- number of the last audit row when it last changed
update quarantine q set producer = r.producer, type = r.type, event_id = r.event_id, attended_at = q.at
from receipt r where r.seq = q.receipt;
alter table quarantine
  alter column producer set not null,
  alter column type set not null,
  alter column event_id set not null,
  alter column attended_at set not null;

drop trigger quarantine_reason on quarantine;
create trigger quarantine_reason before update on quarantine for each row
  when ((new.seq, new.id, new.receipt, new.reason, new.detail, new.owner, new.at, new.producer, new.type, new.event_id)
    is distinct from (old.seq, old.id, old.receipt, old.reason, old.detail, old.owner, old.at, old.producer, old.type, old.event_id))
  execute function refuse('a quarantine reason never changes');
create trigger quarantine_dismissed before update on quarantine for each row
  when (old.state = 'dismissed' and new.state <> 'dismissed')
  execute function refuse('what was dismissed never starts work');

-- What waits is found by any one of what people ask for; what is done with leaves these indexes.
create index quarantine_waiting on quarantine (seq) where state = 'waiting';
create index quarantine_producer on quarantine (producer, seq) where state = 'waiting';
create index quarantine_type on quarantine (type, seq) where state = 'waiting';
create index quarantine_why on quarantine (reason, seq) where state = 'waiting';
create index quarantine_owner on quarantine (owner, seq) where state = 'waiting';
create index quarantine_assignee on quarantine (assignee, seq) where state = 'waiting';
create index quarantine_state on quarantine (state, seq) where state <> 'waiting';
-- Receipts in quarantine, whether they wait or were dismissed.
create index quarantine_held on quarantine (receipt) where state <> 'released';
create index quarantine_unattended on quarantine (attended_at) where state = 'waiting' and assignee is null;

create table quarantine_note (
  seq     bigint  primary key generated always as identity,
  entry   bigint  not null,
  at      bigint  not null,
  reason  text    not null,
  detail  text    not null,
  by      text    not null
);
create index quarantine_note_entry on quarantine_note (entry, seq);

alter table alert add column occasion text not null default 'raised';

-- Append-only; each row's digest covers the row before (domain/audit-chain.ts).
create table audit (
  number    bigint  primary key,
  at        bigint  not null,
  operator  text    not null,
  role      text    not null check (role in ('viewer', 'operator', 'approver')),
  act       text    not null,
  subject   text    not null,
  decision  text    collate "C" not null unique,
  reason    text    not null,
  detail    text    not null,
  result    text    not null,
  digest    bytea   not null check (length(digest) = 32)
);

create trigger audit_kept before update or delete on audit
  for each row execute function refuse('the audit log is only appended to');
create trigger audit_whole before truncate on audit
  for each statement execute function refuse('the audit log is only appended to');

-- Who appends a row holds this lock until it commits, so that rows follow each other in one chain.
create function audit_append() returns void language sql volatile
begin atomic
  select pg_advisory_xact_lock(hashtextextended('counterfoil audit', 'audit'::regclass::oid::bigint));
end;
-- Who says "after row n" shares the lock: n was committed, and what comes after it is appended after this commit.
-- Being volatile it looks anew after the wait, however old the snapshot of its caller is.
create function audit_newest() returns bigint language sql volatile
begin atomic
  select pg_advisory_xact_lock_shared(hashtextextended('counterfoil audit', 'audit'::regclass::oid::bigint));
  select coalesce(max(number), 0) from audit;
end;
