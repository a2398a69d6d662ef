-- Limits that all workers share at one recipient. Written for recipients that have limits, and for no other.

-- A token bucket; full while it has no row.
create table counterfoil_pace (
  recipient  text    primary key,
  tokens     real    not null,
  filled_at  integer not null
) strict, without rowid;

-- Attempts begun under a limit of concurrency. Ended ones go at the recipient's next claim, so settling costs
-- nothing more, and there are never more of them than the limit was.
create table counterfoil_in_flight (
  recipient  text    not null,
  effect     integer not null references counterfoil_effect (seq),
  attempt    integer not null,
  primary key (recipient, effect, attempt)
) strict, without rowid;
