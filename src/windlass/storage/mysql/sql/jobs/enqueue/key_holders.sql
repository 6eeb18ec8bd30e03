-- Returns which job holds the key that each of these jobs asked for, the idempotency key first. It
-- locks what it reads, because a transaction that began before the other's is blind to it.
select i.id, coalesce(k.job_id, d.job_id) as existing_id
from {jobs} i
left join windlass_keys k on k.tenant_id = i.tenant_id and k.kind = 'idempotency'
    and k.`key` = i.idempotency_key and k.job_id <> i.id
left join windlass_keys d on d.tenant_id = i.tenant_id and d.kind = 'dedupe'
    and d.`key` = i.dedupe_key and d.job_id <> i.id
lock in share mode
