-- Returns all leases of a worker, also those that it does not know of. Claims are found by
-- scanning: this is asked only after a claim failed.
select j.id, j.lease_token from windlass_live j
where j.id = any(array(select unnest(c.job_ids) from windlass_claims c
    where c.worker_id = :worker_id))
    and j.state = 'running' and j.worker_id = :worker_id
