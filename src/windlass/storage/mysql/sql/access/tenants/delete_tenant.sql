-- Deletes a tenant that is not: its open jobs are closed afterwards.
-- answer
select id from windlass_tenants where id = :id and state <> 'deleted' for update;

update windlass_tenants
set state = 'deleted', updated_at = {now}
where id = :id and state <> 'deleted'
