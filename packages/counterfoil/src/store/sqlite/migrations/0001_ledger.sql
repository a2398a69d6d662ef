-- Receipts, outbox, quarantine and the effect ledger. The program's own tables may share this file, so every
-- table of ours is named counterfoil_*. Bodies stand apart from state: what changes is small.

create table counterfoil_receipt (
  seq                integer primary key,
  id                 text    not null unique,
  delivery           blob    not null,  -- SHA-256 of the delivery identity
  producer           text    not null,
  namespace          text    not null,
  source             text    not null,
  event_id           text    not null,
  type               text    not null,
  schema_version     text,
  fingerprint        blob    not null,  -- first byte: 1 canonical JSON, 2 raw bytes; then SHA-256
  raw_fingerprint    blob    not null,
  content_type       text    not null,
  bytes              integer not null,
  signed             integer not null check (signed in (0, 1)),
  origin             text    not null,
  event_at           integer,
  received_at        integer not null,
  state              text    not null check (state in ('accepted', 'planned', 'quarantined')),
  duplicates         integer not null default 0,
  last_duplicate_at  integer,
  conflicts_with     integer,           -- seq of the first receipt with this identity
  same_content_as    integer,           -- seq of the first receipt with this content
  planned_at         integer,
  planned_by         text,
  check (length(delivery) = 32 and length(fingerprint) = 33 and length(raw_fingerprint) = 33)
) strict;

-- One receipt for one delivery identity; conflicting ones stand beside it, one for each content. The digest
-- already covers the event id. The id leads because most producers' ids rise with time: then new entries land
-- side by side, on pages that are in memory, however long the history; a bare digest would dirty one page each.
create unique index counterfoil_receipt_first on counterfoil_receipt (event_id, delivery) where conflicts_with is null;
create unique index counterfoil_receipt_conflict on counterfoil_receipt (delivery, fingerprint) where conflicts_with is not null;
-- Where the signature does not cover the id, the same content under another id is looked for.
create index counterfoil_receipt_content on counterfoil_receipt (producer, fingerprint) where signed = 0;

create trigger counterfoil_receipt_identity
before update of id, delivery, event_id, fingerprint, raw_fingerprint, received_at, conflicts_with on counterfoil_receipt
begin
  select raise(abort, 'the identity of a receipt never changes');
end;

create table counterfoil_vault (
  receipt     integer primary key references counterfoil_receipt (seq),
  key_id      text    not null,
  nonce       blob    not null,
  ciphertext  blob    not null
) strict;

create trigger counterfoil_vault_bytes before update of receipt, nonce, ciphertext on counterfoil_vault
begin
  select raise(abort, 'a sealed payload never changes');
end;

-- Waiting for the relay; a claim moves `at` to the end of its lease. Small, whatever the history.
create table counterfoil_outbox (
  receipt     integer primary key references counterfoil_receipt (seq),
  at          integer not null,
  worker      text,
  tries       integer not null default 0,
  last_error  text
) strict;
create index counterfoil_outbox_at on counterfoil_outbox (at);

-- Alerts wait beside the plans. Never reuses a number, so a late hand cannot take another alert's place.
create table counterfoil_alert (
  seq         integer primary key autoincrement,
  at          integer not null,
  worker      text,
  tries       integer not null default 0,
  last_error  text,
  raised_at   integer not null,
  reason      text    not null,
  owner       text    not null,
  receipt     text,
  quarantine  text,
  effect      text
) strict;
create index counterfoil_alert_at on counterfoil_alert (at);

create table counterfoil_quarantine (
  seq      integer primary key,
  id       text    not null unique,
  receipt  integer not null unique references counterfoil_receipt (seq),
  reason   text    not null check (reason in ('unsupported-type', 'schema-failure', 'not-representable', 'identity-conflict', 'effect-conflict', 'plan-failed')),
  detail   text    not null,
  owner    text    not null,
  at       integer not null
) strict;

create trigger counterfoil_quarantine_reason before update of id, receipt, reason, detail on counterfoil_quarantine
begin
  select raise(abort, 'a quarantine reason never changes');
end;

create table counterfoil_effect (
  seq              integer primary key,
  id               text    not null unique,
  recipient        text    not null,
  key              text    not null,
  name             text    not null,
  fingerprint      blob    not null,
  idempotency_key  text    not null,
  order_domain     text,
  order_version    integer,
  planned_at       integer not null,
  state            text    not null check (state in ('planned', 'attempting', 'unknown', 'confirmed', 'refused', 'fenced', 'withdrawn')),
  version          integer not null default 1,
  disputed         integer not null default 0 check (disputed in (0, 1)),
  escalated        integer not null default 0 check (escalated in (0, 1)),
  changed_at       integer not null,
  check ((order_domain is null) = (order_version is null)),
  check (length(fingerprint) = 33)
) strict;

-- One effect for one (recipient, key). The key leads, so that a lookup by key alone is served too.
create unique index counterfoil_effect_key on counterfoil_effect (key, recipient);
create index counterfoil_effect_idempotency on counterfoil_effect (idempotency_key);
-- Everything but the many that went well.
create index counterfoil_effect_state on counterfoil_effect (state, seq) where state <> 'confirmed';

-- Defence in depth behind the lifecycle table.
create trigger counterfoil_effect_final before update of state on counterfoil_effect
when old.state in ('confirmed', 'refused', 'fenced', 'withdrawn') and new.state <> old.state
begin
  select raise(abort, 'a final state never moves');
end;

create trigger counterfoil_effect_identity before update of id, recipient, key, fingerprint, idempotency_key on counterfoil_effect
begin
  select raise(abort, 'the identity of an effect never changes');
end;

-- The sealed request: the same bytes for every attempt.
create table counterfoil_request (
  effect      integer primary key references counterfoil_effect (seq),
  key_id      text    not null,
  nonce       blob    not null,
  ciphertext  blob    not null
) strict;

create trigger counterfoil_request_bytes before update of effect, nonce, ciphertext on counterfoil_request
begin
  select raise(abort, 'a sealed request never changes');
end;

create table counterfoil_cause (
  effect   integer not null references counterfoil_effect (seq),
  receipt  integer not null references counterfoil_receipt (seq),
  trigger  text    not null,
  at       integer not null,
  primary key (effect, receipt, trigger)
) strict, without rowid;
create index counterfoil_cause_receipt on counterfoil_cause (receipt);

create table counterfoil_attempt (
  effect          integer not null references counterfoil_effect (seq),
  number          integer not null check (number > 0),
  begun_at        integer not null,
  ended_at        integer,
  outcome         text check (outcome in ('confirmed', 'refused', 'fenced', 'notActed', 'unknown')),
  open            integer not null default 1 check (open in (0, 1)),
  why             text,
  status          integer,
  correlation     text,
  retry_after_ms  integer,
  worker          text    not null,
  primary key (effect, number)
) strict, without rowid;

create table counterfoil_evidence (
  seq          integer primary key,
  effect       integer not null references counterfoil_effect (seq),
  at           integer not null,
  kind         text    not null,
  fact         text    not null,
  attempt      integer,
  from_state   text    not null,
  to_state     text    not null,
  why          text    not null,
  status       integer,
  correlation  text,
  by           text    not null
) strict;
create index counterfoil_evidence_effect on counterfoil_evidence (effect, seq);

-- What the engine must still look at, and when; a lease is an `at` in the future. Small, whatever the history.
create table counterfoil_due (
  effect     integer primary key references counterfoil_effect (seq),
  recipient  text    not null,
  at         integer not null,
  worker     text
) strict;
create index counterfoil_due_at on counterfoil_due (recipient, at);

-- Totals, written once a commit, so that a status costs the same with ten receipts and with ten million.
create table counterfoil_count (
  name   text    primary key,
  value  integer not null
) strict, without rowid;
