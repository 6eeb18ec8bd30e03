-- The jobs whose id, written without dashes, ends like this: only ids are looked through, in their
-- index.
with ending as materialized (
    select id from windlass_jobs
    where substr(uuid_send(id), 14, 3) = decode(right(cast(:suffix as text), 6), 'hex')
        and replace(cast(id as text), '-', '') like '%' || :suffix
)
select j.id from ending e join windlass_jobs j on j.id = e.id
where cast(:tenant_id as text) is null or j.tenant_id = :tenant_id
order by j.id desc limit :most
