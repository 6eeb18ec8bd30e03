-- Triggers of an event are matched in batches. Safe while older code runs: it ignores the column. The
-- statement can be repeated.

-- The last trigger of the batches that are done; null before the first batch and after the last.
alter table windlass_events
    add column /*M! if not exists */ matched_trigger_id char(36) character set ascii collate ascii_bin;
