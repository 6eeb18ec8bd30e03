-- Moves jobs that have become due into the line, oldest due time first.
delete from temp.picked;

insert into temp.picked (row)
select rowid from windlass_later
where state = 'queued' and due_at <= {now} and cancel_to is null
order by due_at limit :most;

insert into windlass_live (
    id, tenant_id, definition, queue, gate, state, priority, due_at, payload, metadata, source,
    source_ref, correlation_id, created_by, trigger_id, trigger_due_at, dedupe_key,
    idempotency_key, on_parent_failure, expires_at, attempts, max_attempts, worker_deaths,
    lease_token, worker_id, timeout_seconds, created_at, queued_at, started_at,
    last_started_at, updated_at, outcome, last_error, error_type, error_class, error_trace, reason,
    log_sequence
)
select
    m.id, m.tenant_id, m.definition, m.queue, case
        when m.gate in ('', m.definition) then coalesce(d.gate, m.gate)
        else m.gate end, m.state, m.priority, m.due_at,
    m.payload, m.metadata, m.source,
    m.source_ref, m.correlation_id, m.created_by, m.trigger_id, m.trigger_due_at, m.dedupe_key,
    m.idempotency_key, m.on_parent_failure, m.expires_at, m.attempts, m.max_attempts,
    m.worker_deaths,
    m.lease_token, m.worker_id, m.timeout_seconds, m.created_at, m.queued_at, m.started_at,
    m.last_started_at, m.updated_at, m.outcome, m.last_error, m.error_type, m.error_class,
    m.error_trace, m.reason,
    m.log_sequence
from temp.picked chosen
cross join windlass_later m on m.rowid = chosen.row
left join windlass_definitions d on d.key = m.definition;

-- answer
select m.queue, count(*) as moved
from temp.picked chosen cross join windlass_later m on m.rowid = chosen.row group by m.queue;

delete from windlass_later where rowid in (select row from temp.picked);
delete from temp.picked
