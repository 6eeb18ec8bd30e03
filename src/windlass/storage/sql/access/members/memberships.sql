-- Returns a user's roles, those in deleted tenants aside.
select m.tenant_id, m.role, m.permissions
from windlass_members m join windlass_tenants t on t.id = m.tenant_id
where m.user_id = :user_id and t.state <> 'deleted'
order by m.tenant_id
