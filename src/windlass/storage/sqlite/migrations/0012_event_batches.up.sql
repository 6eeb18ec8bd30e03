-- Triggers of an event are matched in batches. Safe while older code runs: it ignores the column.

-- The last trigger of the batches that are done; null before the first batch and after the last.
alter table windlass_events add column matched_trigger_id text;
