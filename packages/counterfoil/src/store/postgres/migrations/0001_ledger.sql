-- Receipts, outbox, quarantine and the effect ledger, in a schema of their own: the migrator sets search_path.
-- Two kinds of tables. The ledger is appended to and its rows do not change: receipt, vault, plan, effect,
-- request, cause, final, evidence. What waits lies in small tables that stay small: outbox, alert, open.
-- No foreign keys: each would lock its parent's row at every insert, and one statement writes parent and child.

create sequence receipt_seq as bigint;
create table receipt (
  seq              bigint  primary key,
  id               text    collate "C" not null unique,  -- begins with the time: new entries land side by side
  delivery         bytea   not null check (length(delivery) = 32),     -- SHA-256 of the delivery identity
  producer         text    collate "C" not null,
  namespace        text    not null,
  source           text    not null,
  event_id         text    collate "C" not null,
  type             text    not null,
  schema_version   text,
  fingerprint      bytea   not null check (length(fingerprint) = 33),  -- first byte: 1 canonical JSON, 2 raw bytes; then SHA-256
  raw_fingerprint  bytea   not null check (length(raw_fingerprint) = 33),
  content_type     text    not null,
  bytes            bigint  not null,
  signed           boolean not null,
  origin           text    not null,
  event_at         bigint,
  received_at      bigint  not null,
  conflicts_with   bigint                                 -- seq of the first receipt with this identity
);
-- One receipt for one delivery identity; conflicting ones stand beside it, one for each content. The event id
-- leads because most producers' ids rise with time; a bare digest would dirty one page of the index each.
create unique index receipt_first on receipt (event_id, delivery) where conflicts_with is null;
create unique index receipt_conflict on receipt (delivery, fingerprint) where conflicts_with is not null;
-- Where the signature does not cover the id, the same content under another id is looked for.
create index receipt_content on receipt (fingerprint, producer, seq) where not signed;

-- The sealed payload: apart, because it may go before the evidence goes.
create table vault (
  receipt     bigint primary key,
  key_id      text   not null,
  nonce       bytea  not null,
  ciphertext  bytea  not null
);
-- A ciphertext does not shrink: no attempt is made.
alter table vault alter column ciphertext set storage external;

-- How often a receipt's delivery came again. Apart, so that receipts never change.
create table duplicate (
  receipt  bigint primary key,
  count    bigint not null,
  last_at  bigint not null
) with (fillfactor = 70);

-- A receipt is accepted while it stands in outbox, quarantined when it stands in quarantine, planned when here.
create table plan (
  receipt  bigint primary key,
  at       bigint not null,
  by       text   not null
);

create table outbox (
  receipt     bigint  primary key,
  producer    text    collate "C" not null,
  at          bigint  not null,           -- by the database's clock; a claim moves it to the end of its lease
  worker      text,
  tries       integer not null default 0,
  last_error  text
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_analyze_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index outbox_at on outbox (producer, at);

create table alert (
  seq         bigint  primary key generated always as identity,
  at          bigint  not null,
  worker      text,
  tries       integer not null default 0,
  last_error  text,
  raised_at   bigint  not null,
  reason      text    not null,
  owner       text    not null,
  receipt     text,
  quarantine  text,
  effect      text
) with (fillfactor = 70);
create index alert_at on alert (at);

create table quarantine (
  seq      bigint primary key generated always as identity,
  id       text   collate "C" not null unique,
  receipt  bigint not null unique,
  reason   text   not null check (reason in ('unsupported-type', 'schema-failure', 'not-representable', 'identity-conflict', 'effect-conflict', 'plan-failed')),
  detail   text   not null,
  owner    text   not null,
  at       bigint not null
);

create sequence effect_seq as bigint;
create table effect (
  seq              bigint primary key,
  id               text   collate "C" not null unique,
  recipient        text   collate "C" not null,
  key              text   collate "C" not null,
  name             text   not null,
  fingerprint      bytea  not null check (length(fingerprint) = 33),
  idempotency_key  text   not null,
  order_domain     text,
  order_version    bigint,
  planned_at       bigint not null,
  check ((order_domain is null) = (order_version is null))
);
-- One effect for one (recipient, key). The key leads, so that a lookup by key alone is served too.
create unique index effect_key on effect (key, recipient);
-- A digest is spread over the whole index wherever it lies: eight bytes of it keep the index small.
create index effect_idempotency on effect (hashtextextended(idempotency_key, 0));

-- The sealed request: the same bytes for every attempt.
create table request (
  effect      bigint primary key,
  key_id      text   not null,
  nonce       bytea  not null,
  ciphertext  bytea  not null
);
alter table request alter column ciphertext set storage external;

create table cause (
  effect   bigint not null,
  receipt  bigint not null,
  trigger  text   not null,
  at       bigint not null
);
create index cause_effect on cause (effect, receipt);
create index cause_receipt on cause (receipt, effect);

-- Effects that are not final, what is due of them, and when; a lease is an `at` in the future.
create table open (
  effect      bigint  primary key,
  recipient   text    collate "C" not null,
  state       text    not null check (state in ('planned', 'attempting', 'unknown')),
  version     bigint  not null,
  disputed    boolean not null default false,
  escalated   boolean not null default false,
  changed_at  bigint  not null,
  attempts    integer not null default 0,
  at          bigint,                     -- by the database's clock; null: the engine has nothing to do
  worker      text
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_analyze_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index open_at on open (recipient, at) where at is not null;

create table final (
  effect      bigint  primary key,
  state       text    not null check (state in ('confirmed', 'refused', 'fenced', 'withdrawn')),
  version     bigint  not null,
  disputed    boolean not null,
  escalated   boolean not null,
  changed_at  bigint  not null
);
-- Everything but the many that went well.
create index final_state on final (state, effect) where state <> 'confirmed';
create index final_disputed on final (effect) where disputed or escalated;

create table attempt (
  effect          bigint  not null,
  number          integer not null check (number > 0),
  begun_at        bigint  not null,
  ended_at        bigint,
  outcome         text    check (outcome in ('confirmed', 'refused', 'fenced', 'notActed', 'unknown')),
  open            boolean not null default true,
  why             text,
  status          integer,
  correlation     text,
  retry_after_ms  bigint,
  worker          text    not null,
  primary key (effect, number)
) with (fillfactor = 60);

create table evidence (
  seq          bigint  primary key generated always as identity,
  effect       bigint  not null,
  at           bigint  not null,
  kind         text    not null,
  fact         text    not null,
  attempt      integer,
  from_state   text    not null,
  to_state     text    not null,
  why          text    not null,
  status       integer,
  correlation  text,
  by           text    not null
);
create index evidence_effect on evidence (effect, seq);

-- Totals of what grows with history, as one row a commit that changes them; folded together now and then.
-- One row that all commits update would have them wait for each other.
create table tally (
  name   text   not null,
  value  bigint not null
);

-- Defence in depth. A WHEN that does not hold costs nothing.
create function refuse() returns trigger language plpgsql as $$
begin
  raise exception '%', tg_argv[0] using errcode = 'integrity_constraint_violation';
end $$;

create trigger receipt_identity before update on receipt
  for each row execute function refuse('a receipt never changes');
create trigger vault_bytes before update on vault for each row
  when ((new.receipt, new.nonce, new.ciphertext) is distinct from (old.receipt, old.nonce, old.ciphertext))
  execute function refuse('a sealed payload never changes');
create trigger request_bytes before update on request for each row
  when ((new.effect, new.nonce, new.ciphertext) is distinct from (old.effect, old.nonce, old.ciphertext))
  execute function refuse('a sealed request never changes');
create trigger quarantine_reason before update on quarantine for each row
  when ((new.id, new.receipt, new.reason, new.detail) is distinct from (old.id, old.receipt, old.reason, old.detail))
  execute function refuse('a quarantine reason never changes');
create trigger effect_identity before update on effect
  for each row execute function refuse('the identity of an effect never changes');
create trigger final_state before update on final for each row
  when (new.state <> old.state or new.effect <> old.effect)
  execute function refuse('a final state never moves');

-- Ends a statement whose snapshot is too old to decide; its caller runs it again (plan.ts).
create function overtaken() returns boolean language plpgsql as $$
begin
  raise exception 'another transaction committed the same effect meanwhile' using errcode = 'serialization_failure';
end $$;
