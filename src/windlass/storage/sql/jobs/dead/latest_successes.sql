-- The newest completed jobs of a definition, with when they ended and on which worker.
select id, finished_at, worker_id from windlass_ended {index windlass_ended_definition}
where definition = :definition and state = 'completed'
    and ({text :tenant_id} is null or tenant_id = :tenant_id)
order by id desc limit :look
