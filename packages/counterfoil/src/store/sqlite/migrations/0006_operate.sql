-- What operators ask for: an effect by the recipient's own id of it, the effects of a recipient, what the audit log
-- says of one record. New entries of all but the first land at the end of their part of the index.
create index counterfoil_attempt_correlation on counterfoil_attempt (correlation) where correlation is not null;
create index counterfoil_evidence_correlation on counterfoil_evidence (correlation) where correlation is not null;
create index counterfoil_effect_recipient on counterfoil_effect (recipient, seq);
create index counterfoil_audit_subject on counterfoil_audit (subject, number);

-- The totals as they were, once a minute: what happened between two is their difference. A day of them is kept.
create table counterfoil_sample (
  minute  integer primary key,  -- since the epoch
  totals  text    not null
) strict;
