-- Returns the limits among these names. Nothing needs a lock: a transaction that may write is
-- alone.
select * from windlass_limits where name in (select name from {names} n) order by name
