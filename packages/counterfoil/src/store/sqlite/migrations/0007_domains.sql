-- The ordering domain of what is due, so that each domain has its turn however many effects another has waiting.
-- Null where no order is claimed; such effects cost no entry in the index.

alter table counterfoil_due add column domain text;
update counterfoil_due set domain = (select order_domain from counterfoil_effect where seq = effect);
create index counterfoil_due_domain on counterfoil_due (recipient, domain, at) where domain is not null;
