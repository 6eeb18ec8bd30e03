-- Locks these limits for this claim; those locked by another are left out.
select * from windlass_limits
where name = any(array(select name from {names} n)) order by name for update skip locked
