-- Finds triggers whose time has come, the most urgent definitions' first and those that run after
-- others last, and tells when the next is due: also if there are none, by a row without an id.
with coming as (
    select {now} as now_at, {until min(next_run_at)} as due_in
    from windlass_triggers {index windlass_triggers_due}
    where {true enabled} and next_run_at > {now}
),
due as (
    select t.*, d.priority as urgency, {text d.runs_after} <> '[]' as follows
    from windlass_triggers t {index windlass_triggers_due}
    join windlass_definitions d on d.{name key} = t.definition and {true d.enabled}
        and {false d.missing_from_code}
    join windlass_tenants n on n.id = t.tenant_id and n.state = 'active'
    where {true t.enabled} and {false t.missing_from_code} and t.next_run_at <= {now}
        -- One that could not fire is tried again after a pause.
        and (t.last_error is null or t.last_error_at is null or t.last_error_at < t.next_run_at
            or t.last_error_at > {now} or t.last_error_at <= {now} - {seconds :pause})
    order by follows, urgency, t.next_run_at, t.id
    limit :most
)
select coming.*, due.* from coming left join due on true
order by due.follows, due.urgency, due.next_run_at, due.id
