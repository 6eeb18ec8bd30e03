-- The jobs whose id, written without dashes, ends like this.
select id from windlass_jobs
where substr(id, -6) = substr(:suffix, -6) and replace(id, '-', '') like '%' || :suffix
    and (:tenant_id is null or tenant_id = :tenant_id)
order by id desc limit :most
