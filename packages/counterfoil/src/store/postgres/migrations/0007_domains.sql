-- The ordering domain of what is due, so that each domain has its turn however many effects another has waiting.
-- Null where no order is claimed; such effects cost no entry in the index.

alter table open add column domain text collate "C";
update open o set domain = e.order_domain from effect e where e.seq = o.effect and e.order_domain is not null;
create index open_domain on open (recipient, domain, at) where domain is not null and at is not null;
