-- Locks these limits for this claim; those locked by another are left out. The registry first, as
-- by who sets limits: else each could wait for the other.
select id from windlass_tenants force index (primary) where id = 'system' lock in share mode;

select l.* from {names} n straight_join windlass_limits l force index (primary) on l.name = n.name
for update skip locked
