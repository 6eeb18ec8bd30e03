-- The jobs whose id ends like this, written without dashes.
select id from windlass_jobs
where right(id, 6) = right(:suffix, 6) and replace(id, '-', '') like concat('%', :suffix)
    and (:tenant_id is null or tenant_id = :tenant_id)
order by id desc limit :most
