-- Forgets a trigger; what it made stays.
-- answer
select id from windlass_triggers where id = :id and (:tenant_id is null or tenant_id = :tenant_id) for update;

delete from windlass_triggers where id = :id and (:tenant_id is null or tenant_id = :tenant_id)
