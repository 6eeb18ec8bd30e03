-- The jobs whose id ends like this, written without dashes. A limit keeps the ids of few apart:
-- they are looked for in an index, and only theirs are the rows that are read. Of the history's,
-- the server would take another index than the one that is read fastest.
select j.id
from (select id from windlass_live where right(id, 6) = right(:suffix, 6) limit 1000000000) e
straight_join windlass_live j force index (primary) on j.id = e.id
where replace(j.id, '-', '') like concat('%', :suffix)
    and (:tenant_id is null or j.tenant_id = :tenant_id)
union all
select j.id
from (select id from windlass_later where right(id, 6) = right(:suffix, 6) limit 1000000000) e
straight_join windlass_later j force index (primary) on j.id = e.id
where replace(j.id, '-', '') like concat('%', :suffix)
    and (:tenant_id is null or j.tenant_id = :tenant_id)
union all
select j.id
from (select id from windlass_ended force index (windlass_ended_definition)
    where right(id, 6) = right(:suffix, 6) limit 1000000000) e
straight_join windlass_ended j force index (primary) on j.id = e.id
where replace(j.id, '-', '') like concat('%', :suffix)
    and (:tenant_id is null or j.tenant_id = :tenant_id)
order by id desc limit :most
