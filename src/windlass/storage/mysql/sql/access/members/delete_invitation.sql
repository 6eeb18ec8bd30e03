-- Takes back a role that was offered; its link is void.
-- answer
select name from windlass_invitations where tenant_id = :tenant_id and name = :name for update;

delete from windlass_invitations where tenant_id = :tenant_id and name = :name
