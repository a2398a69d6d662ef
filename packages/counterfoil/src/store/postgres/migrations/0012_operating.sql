-- What a backfill planned and nobody has begun waits behind everything else that is due, however long that has come
-- later. The domains' turn is for what does not wait behind.

alter table open add column lane smallint not null default 0;
drop index open_at;
create index open_at on open (recipient, at) where at is not null and turn is null and lane = 0;
create index open_behind on open (recipient, at) where at is not null and lane = 1;
drop index open_domain;
create index open_domain on open (recipient, domain, at) where domain is not null and at is not null and lane = 0;

-- The few effects that ended otherwise than confirmed, of one recipient. Null where one was confirmed: those are found
-- through effect_recipient, and cost nothing here.
alter table final add column recipient text collate "C";
update final f set recipient = e.recipient from effect e where f.state <> 'confirmed' and e.seq = f.effect;
create index final_recipient on final (recipient, state, effect) where state <> 'confirmed';
