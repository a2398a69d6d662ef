-- The trace of a delivery goes on where its work does, in whatever process: what the receipt was written by, and what
-- planned the effect, as W3C traceparent (55 characters). Null where nothing is traced, which costs nothing.

alter table counterfoil_receipt add column trace text;
alter table counterfoil_effect add column trace text;
