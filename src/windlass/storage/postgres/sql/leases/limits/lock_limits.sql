-- Makes this transaction the only one to claim under these limits; those busy elsewhere are left
-- out.
select * from windlass_limits
where name = any(array(select name from {names} n)) order by name for update skip locked
