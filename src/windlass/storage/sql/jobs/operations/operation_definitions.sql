-- Returns the definitions and tenants of the jobs that a bulk operation changed and that are kept.
select j.definition, j.tenant_id
from windlass_operation_items i {join} windlass_live j {index primary} on j.id = i.job_id
where i.operation_id = :operation_id and i.state = 'done'
union
select j.definition, j.tenant_id
from windlass_operation_items i {join} windlass_later j {index primary} on j.id = i.job_id
where i.operation_id = :operation_id and i.state = 'done'
union
select j.definition, j.tenant_id
from windlass_operation_items i {join} windlass_ended j {index primary} on j.id = i.job_id
where i.operation_id = :operation_id and i.state = 'done'
