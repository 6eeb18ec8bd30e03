-- Forgets how far events were matched. An event between two batches starts over; no job is made twice.
alter table windlass_events drop matched_trigger_id;
