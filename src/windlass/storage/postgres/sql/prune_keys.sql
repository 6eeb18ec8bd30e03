-- Forgets keys of ended jobs whose window has passed.
with gone as (
    delete from windlass_keys where (tenant_id, kind, key) in (
        select tenant_id, kind, key from windlass_keys where not open and until <= {now} limit :most)
        and not open and until <= {now}
    returning 1
)
select count(*) as pruned from gone
