-- The jobs whose id, written without dashes, ends like this; an index has the last three bytes.
select id from windlass_jobs
where substr(uuid_send(id), 14, 3) = decode(right(cast(:suffix as text), 6), 'hex')
    and replace(cast(id as text), '-', '') like '%' || :suffix
    and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
order by id desc limit :most
