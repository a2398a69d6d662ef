-- What operators ask for: an effect by the recipient's own id of it, the effects of a recipient, what the audit log
-- says of one record. An attempt whose answer carries no such id is changed in place as before.
create index attempt_correlation on attempt (hashtextextended(correlation, 0)) where correlation is not null;
create index evidence_correlation on evidence (hashtextextended(correlation, 0)) where correlation is not null;
create index effect_recipient on effect (recipient, seq);
-- A subject may be a whole filter, longer than an index holds.
create index audit_subject on audit (hashtextextended(subject, 0), number);

-- The totals as they were, once a minute: what happened between two is their difference. A day of them is kept.
create table sample (
  minute  bigint primary key,  -- since the epoch
  totals  text   not null
);

-- Effects by the state they ended in, as totals: a status counts no history.
insert into tally (name, value)
select state, count(*) from final where state <> 'confirmed' group by state;
