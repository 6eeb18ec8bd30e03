-- How many schedules should have fired more than :seconds ago; not those that must not fire.
select count(*) as late from (
    select from windlass_triggers t
    join windlass_definitions d on d.key = t.definition and d.enabled and not d.missing_from_code
    join windlass_tenants n on n.id = t.tenant_id and n.state = 'active'
    where t.enabled and not t.missing_from_code
        and t.next_run_at < {now} - cast(:seconds as double precision) * interval '1 second'
    limit :most
) l
