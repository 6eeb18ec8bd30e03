-- Deletes keys of ended jobs whose window has passed, and starts outside every rate's window.
with gone as (
    delete from windlass_keys where (tenant_id, kind, key) in (
        select tenant_id, kind, key from windlass_keys where not open and until <= {now}
            limit :most)
        and not open and until <= {now}
    returning 1
),
-- Materialized: a plan that ran it for each row would lock other rows each time.
outdated as materialized (
    select name, slot from windlass_starts where until <= {now} limit :most
        for update skip locked
),
begun as (
    delete from windlass_starts where (name, slot) in (select name, slot from outdated)
    returning 1
)
select (select count(*) from gone) + (select count(*) from begun) as pruned
