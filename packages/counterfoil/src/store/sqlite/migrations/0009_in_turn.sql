-- Effects that are taken in turn: one of an ordering domain is not begun before every one of an earlier version there
-- is final. They are found through their domain alone and not by time, so that those which wait are never walked past.

alter table counterfoil_effect add column in_turn integer not null default 0 check (in_turn in (0, 1));
create index counterfoil_effect_turn on counterfoil_effect (recipient, order_domain, order_version, seq)
  where in_turn = 1 and state in ('planned', 'attempting', 'unknown');

alter table counterfoil_due add column in_turn integer not null default 0 check (in_turn in (0, 1));
drop index counterfoil_due_at;
create index counterfoil_due_at on counterfoil_due (recipient, at) where in_turn = 0;
