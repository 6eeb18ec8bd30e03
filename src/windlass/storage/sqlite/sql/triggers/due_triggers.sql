-- Finds triggers whose time has come, the most urgent definitions' first and those that run after
-- others last, and tells when the next is due: also if there are none, by a row without an id.
with coming as (
    select {now} as now_at, (min(next_run_at) - {now}) / 1000000.0 as due_in
    from windlass_triggers
    where enabled = 1 and next_run_at > {now}
),
due as (
    select t.*, d.priority as urgency, d.runs_after <> '[]' as follows
    from windlass_triggers t
    join windlass_definitions d on d.key = t.definition and d.enabled = 1 and d.missing_from_code = 0
    join windlass_tenants n on n.id = t.tenant_id and n.state = 'active'
    where t.enabled = 1 and t.missing_from_code = 0 and t.next_run_at <= {now}
        -- One that could not fire is tried again after a pause.
        and (t.last_error is null or t.last_error_at is null or t.last_error_at < t.next_run_at
            or t.last_error_at > {now} or t.last_error_at <= {now} - :pause * 1000000)
    order by follows, urgency, t.next_run_at, t.id
    limit :most
)
select coming.*, due.* from coming left join due
order by due.follows, due.urgency, due.next_run_at, due.id
