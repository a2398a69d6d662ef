-- Effects that are taken in turn: one of an ordering domain is not begun before every one of an earlier version there
-- is final. They are found through their domain alone and not by time, so that those which wait are never walked past.

-- The version, where the effect is taken in turn; else null, and then it costs no entry in the index.
alter table open add column turn bigint;
create index open_turn on open (recipient, domain, turn, effect) where turn is not null;

drop index open_at;
create index open_at on open (recipient, at) where at is not null and turn is null;
