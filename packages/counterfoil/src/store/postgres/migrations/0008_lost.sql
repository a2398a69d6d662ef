-- Processes that ended, or stood still past their lease, while they held this record: from two on it is planned alone,
-- and each time that begins is counted before.

alter table outbox add column lost integer not null default 0;
