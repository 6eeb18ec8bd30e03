-- Lists leases of all workers, some after an id, in the order of their ids.
select id, lease_token, worker_id from windlass_live
where state = 'running' and id > :after order by id limit :most
