-- Returns which job holds the key that each of these jobs asked for, the idempotency key first.
select i.id, coalesce(
    (select k.job_id from windlass_keys k where k.tenant_id = i.tenant_id
        and k.kind = 'idempotency' and k.{name key} = i.idempotency_key and k.job_id <> i.id),
    (select k.job_id from windlass_keys k where k.tenant_id = i.tenant_id
        and k.kind = 'dedupe' and k.{name key} = i.dedupe_key and k.job_id <> i.id)
) as existing_id
from {jobs} i
