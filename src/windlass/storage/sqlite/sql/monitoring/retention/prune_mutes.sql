-- Forgets mutes whose time is over.
-- answer
select count(*) as pruned from windlass_mutes where muted_until <= {now};

delete from windlass_mutes where muted_until <= {now}
