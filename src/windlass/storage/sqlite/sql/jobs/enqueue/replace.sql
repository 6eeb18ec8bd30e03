-- Gives a job that waits the payload and the due time of a newer one, which is put off no longer
-- than :max_wait from when the job was made. A job that runs or has ended, is of another
-- definition, or was not made by :owner, if that is given, stays as it is. The history names each
-- who replaced it once, with the last time: a key may be replaced very often. A job that is due
-- stands in line no longer: it is put back among those due later.
insert into windlass_later (
    id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, expires_at, attempts, max_attempts, worker_deaths,
    lease_token, worker_id, timeout_seconds, created_at, queued_at, started_at,
    last_started_at, updated_at, outcome, last_error, error_type, error_class, error_trace, reason,
    log_sequence
)
select
    m.id, m.tenant_id, m.definition, m.queue, m.gate, 'queued', m.priority, m.due_at,
    m.payload, m.metadata, m.source,
    m.source_ref, m.correlation_id, m.created_by, m.trigger_id, m.trigger_due_at, m.dedupe_key,
    m.idempotency_key, m.on_parent_failure, m.expires_at, m.attempts, m.max_attempts,
    m.worker_deaths,
    m.lease_token, m.worker_id, m.timeout_seconds, m.created_at, m.queued_at, m.started_at,
    m.last_started_at, {now}, m.outcome, m.last_error, m.error_type, m.error_class, m.error_trace,
    m.reason,
    m.log_sequence
from windlass_live m
where m.id = :id and m.tenant_id = :tenant_id and m.state = 'queued' and m.cancel_to is null
    and m.definition = :definition and (:owner is null or m.created_by = :owner);

delete from windlass_live
where id = :id and tenant_id = :tenant_id and state = 'queued' and cancel_to is null
    and definition = :definition and (:owner is null or created_by = :owner);

update windlass_transitions as t set at = {now}
where t.job_id = :id and t.actor is :actor
    and t.message = 'replaced by a newer job with its dedupe key'
    and exists (
        select 1 from windlass_later
        where id = :id and tenant_id = :tenant_id and cancel_to is null and definition = :definition
            and (:owner is null or created_by = :owner)
    );

insert into windlass_transitions (job_id, at, from_state, to_state, actor, message)
select id, {now}, state, state, :actor, 'replaced by a newer job with its dedupe key'
from windlass_later
where id = :id and tenant_id = :tenant_id and cancel_to is null and definition = :definition
    and (:owner is null or created_by = :owner)
    and not exists (
        select 1 from windlass_transitions t
        where t.job_id = :id and t.actor is :actor
            and t.message = 'replaced by a newer job with its dedupe key'
    );

-- answer
update windlass_later
set payload = :payload,
    gate = coalesce(:own_gate,
        (select d.gate from windlass_definitions d where d.key = definition), gate),
    due_at = min(coalesce(:due_at, {now} + cast(round(:delay * 1000000) as integer)),
        coalesce(created_at + cast(round(:max_wait * 1000000) as integer), 9223372036854775807)),
    updated_at = {now}
where id = :id and tenant_id = :tenant_id and cancel_to is null and definition = :definition
    and (:owner is null or created_by = :owner)
returning id
