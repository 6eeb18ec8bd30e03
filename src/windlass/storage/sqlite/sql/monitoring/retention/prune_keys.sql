-- Deletes keys of ended jobs whose window has passed, and starts outside every rate's window.

-- let past
select tenant_id, kind, key from windlass_keys where open = 0 and until <= {now} order by until
limit :most;

-- let begun
select name, slot from windlass_starts where until <= {now} limit :most;

-- answer
select (select count(*) from {past} p) + (select count(*) from {begun} b) as pruned;

delete from windlass_keys
where (tenant_id, kind, key) in (select tenant_id, kind, key from {past} p);

delete from windlass_starts where (name, slot) in (select name, slot from {begun} b)
