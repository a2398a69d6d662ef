-- What a backfill planned and nobody has begun waits behind everything else that is due, however long that has come
-- later. The domains' turn is for what does not wait behind.

alter table open add column lane smallint not null default 0;
drop index open_at;
create index open_at on open (recipient, at) where at is not null and turn is null and lane = 0;
create index open_behind on open (recipient, at) where at is not null and lane = 1;
drop index open_domain;
create index open_domain on open (recipient, domain, at) where domain is not null and at is not null and lane = 0;
