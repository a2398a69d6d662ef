-- What is left of receipts and effects that were forgotten. `seq` is the number that they had, so what refers to
-- them still does; `digest` and `content` are HMACs under the key of markers (store/marking.ts).

create table counterfoil_receipt_marker (
  seq       integer primary key,
  digest    blob    not null unique check (length(digest) = 16),
  content   blob    not null check (length(content) = 16),
  id        text    not null,
  event_at  integer
) strict;
-- Those that a boundary may drop: an event without a time cannot be told to be older than it.
create index counterfoil_receipt_marker_at on counterfoil_receipt_marker (event_at, seq) where event_at is not null;

create table counterfoil_effect_marker (
  seq      integer primary key,
  digest   blob    not null unique check (length(digest) = 16),
  content  blob    not null check (length(content) = 16),
  id       text    not null,
  at       integer not null
) strict;
create index counterfoil_effect_marker_at on counterfoil_effect_marker (at, seq);

-- One row at most: the boundary, whether there were ever markers, and their sealed key.
create table counterfoil_retention (
  one         integer primary key check (one = 1),
  boundary    integer not null default 0,
  marked      integer not null default 0 check (marked in (0, 1)),
  key_id      text,
  nonce       blob,
  ciphertext  blob
) strict;

create trigger counterfoil_retention_boundary before update of boundary, marked on counterfoil_retention
when new.boundary < old.boundary or new.marked < old.marked
begin
  select raise(abort, 'what was closed to replay is never opened again');
end;

-- An effect that goes is looked for among those in flight.
create index counterfoil_in_flight_effect on counterfoil_in_flight (effect);
