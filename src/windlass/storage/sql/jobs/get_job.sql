-- One job in whichever table it is, if the scope may see it.
select * from windlass_jobs
where id = :id and ({text :tenant_id} is null or tenant_id = :tenant_id)
