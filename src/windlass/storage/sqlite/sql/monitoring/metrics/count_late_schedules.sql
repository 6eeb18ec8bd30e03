-- How many schedules should have fired more than :seconds ago; not those that must not fire.
select count(*) as late from (
    select 1 from windlass_triggers t
    join windlass_definitions d on d.key = t.definition and d.enabled = 1 and d.missing_from_code = 0
    join windlass_tenants n on n.id = t.tenant_id and n.state = 'active'
    where t.enabled = 1 and t.missing_from_code = 0 and t.next_run_at < {now} - :seconds * 1000000
    limit :most
) l
