-- How many schedules should have fired more than :seconds ago; not those that must not fire.
select count(*) as late from (
    select 1 from windlass_triggers t {index windlass_triggers_due}
    join windlass_definitions d on d.{name key} = t.definition and {true d.enabled}
        and {false d.missing_from_code}
    join windlass_tenants n on n.id = t.tenant_id and n.state = 'active'
    where {true t.enabled} and {false t.missing_from_code}
        and t.next_run_at < {now} - {seconds :seconds}
    limit :most
) l
