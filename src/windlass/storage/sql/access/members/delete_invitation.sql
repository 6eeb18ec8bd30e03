-- Deletes an invitation; its link is void.
delete from windlass_invitations where tenant_id = :tenant_id and name = :name returning name
