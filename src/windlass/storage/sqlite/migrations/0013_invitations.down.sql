-- Forgets roles that were offered and not accepted.
drop table windlass_invitations;
