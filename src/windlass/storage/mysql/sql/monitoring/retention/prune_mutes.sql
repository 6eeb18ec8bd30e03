-- Forgets mutes whose time is over.
delete from windlass_mutes where muted_until <= {now};

select row_count() as pruned
