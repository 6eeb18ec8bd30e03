-- Forgets roles that were offered and not accepted.
drop table if exists windlass_invitations;
