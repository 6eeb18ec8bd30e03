-- Forgets mutes whose time is over.
with gone as (
    delete from windlass_mutes where muted_until <= {now} returning 1
)
select count(*) as pruned from gone
