-- One job wherever it rests, if the scope may see it.
select * from windlass_jobs
where id = :id and (cast(:tenant_id as text) is null or tenant_id = :tenant_id)
