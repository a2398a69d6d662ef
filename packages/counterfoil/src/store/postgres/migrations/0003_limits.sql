-- Limits that all workers share at one recipient. Written for recipients that have limits, and for no other.

-- Who holds a recipient's row decides alone what may begin there. And a token bucket; full while `tokens` is null.
create table pace (
  recipient  text    collate "C" primary key,
  tokens     float8,
  filled_at  bigint                      -- by the database's clock
) with (fillfactor = 50);

-- Attempts begun under a limit of concurrency. Ended ones go at the recipient's next claim, so settling costs
-- nothing more, and there are never more of them than the limit was.
create table in_flight (
  recipient  text    collate "C" not null,
  effect     bigint  not null,
  attempt    integer not null,
  primary key (recipient, effect, attempt)
);
