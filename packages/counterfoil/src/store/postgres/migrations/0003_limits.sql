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

-- How many receipts wait, as one of the totals: whoever writes to outbox, and however many wait. A statement's
-- worth of records is one row.
insert into tally (name, value) select 'waiting', count(*) from outbox;

create function count_waiting() returns trigger language plpgsql set search_path from current as $$
declare moved bigint;
begin
  select count(*) into moved from touched;
  if moved > 0 then
    insert into tally (name, value) values ('waiting', case tg_op when 'INSERT' then moved else -moved end);
  end if;
  return null;
end $$;

create trigger outbox_more after insert on outbox referencing new table as touched
  for each statement execute function count_waiting();
create trigger outbox_fewer after delete on outbox referencing old table as touched
  for each statement execute function count_waiting();
