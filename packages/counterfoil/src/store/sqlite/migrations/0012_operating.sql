-- What a backfill planned and nobody has begun waits behind everything else that is due, however long that has come
-- later. The domains' turn is for what does not wait behind.

alter table counterfoil_due add column lane integer not null default 0 check (lane in (0, 1));
drop index counterfoil_due_at;
create index counterfoil_due_at on counterfoil_due (recipient, at) where in_turn = 0 and lane = 0;
create index counterfoil_due_behind on counterfoil_due (recipient, at) where lane = 1;
drop index counterfoil_due_domain;
create index counterfoil_due_domain on counterfoil_due (recipient, domain, at) where domain is not null and lane = 0;

-- The few effects that ended otherwise than confirmed, of one recipient.
create index counterfoil_effect_ended on counterfoil_effect (recipient, state, seq) where state in ('refused', 'fenced', 'withdrawn');
