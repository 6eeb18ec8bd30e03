-- Returns all leases of a worker, also those that it does not know of. It looks at all that run:
-- this is asked only after a claim failed.
select id, lease_token from windlass_live force index (windlass_live_look)
where look_at is not null and state = 'running' and worker_id = :worker_id
