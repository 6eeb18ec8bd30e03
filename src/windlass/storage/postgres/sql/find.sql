-- The jobs whose id, written without dashes, ends like this.
select id from windlass_jobs
where replace(cast(id as text), '-', '') like :suffix and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
order by id desc limit :most
