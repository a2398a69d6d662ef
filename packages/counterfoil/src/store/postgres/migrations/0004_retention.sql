-- What is left of receipts and effects that were forgotten. `seq` is the number that they had, so what refers to
-- them still does; `digest` and `content` are HMACs under the key of markers (store/marking.ts).

create table receipt_marker (
  seq       bigint primary key,
  event_at  bigint,
  digest    bytea  not null unique check (length(digest) = 16),
  content   bytea  not null check (length(content) = 16),
  id        text   collate "C" not null
);
-- Those that a boundary may drop: an event without a time cannot be told to be older than it.
create index receipt_marker_at on receipt_marker (event_at, seq) where event_at is not null;

create table effect_marker (
  seq      bigint primary key,
  at       bigint not null,
  digest   bytea  not null unique check (length(digest) = 16),
  content  bytea  not null check (length(content) = 16),
  id       text   collate "C" not null
);
create index effect_marker_at on effect_marker (at, seq);

-- One row at most: the boundary, whether there were ever markers, and their sealed key.
create table retention (
  one         integer primary key check (one = 1),
  boundary    bigint  not null default 0,
  marked      boolean not null default false,
  key_id      text,
  nonce       bytea,
  ciphertext  bytea
);

create trigger retention_boundary before update on retention for each row
  when (new.boundary < old.boundary or new.marked < old.marked)
  execute function refuse('what was closed to replay is never opened again');
