-- Forgets keys of ended jobs whose window has passed.

-- let past
select tenant_id, kind, key from windlass_keys where open = 0 and until <= {now} order by until limit :most;

-- answer
select count(*) as pruned from {past} p;

delete from windlass_keys where (tenant_id, kind, key) in (select tenant_id, kind, key from {past} p)
