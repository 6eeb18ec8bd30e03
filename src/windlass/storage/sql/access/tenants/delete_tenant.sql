-- Deletes a tenant that is not: its open jobs are closed afterwards.
update windlass_tenants
set state = 'deleted', updated_at = {now}
where id = :id and state <> 'deleted'
returning id
