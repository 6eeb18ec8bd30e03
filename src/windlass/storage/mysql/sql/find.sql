-- The jobs whose id ends like this, written without dashes.
select id from windlass_jobs
where replace(id, '-', '') like :suffix and (:tenant_id is null or tenant_id = :tenant_id)
order by id desc limit :most
