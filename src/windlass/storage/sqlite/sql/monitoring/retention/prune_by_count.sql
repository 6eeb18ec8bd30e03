-- Deletes some ended jobs of one definition beyond the newest `keep`, with everything that hangs on
-- them.

-- let newest_and_next
select * from (select id from windlass_ended where definition = :definition and state = 'completed'
               order by id desc limit :keep + 1)
union all
select * from (select id from windlass_ended where definition = :definition and state = 'canceled'
               order by id desc limit :keep + 1)
union all
select *
from (select id from windlass_ended where definition = :definition and state = 'dead_letter'
               order by id desc limit :keep + 1);

delete from temp.picked;

insert into temp.picked (row, id)
select rowid, id from windlass_ended e
where definition = :definition and state in ('completed', 'canceled', 'dead_letter')
    and id <= (select id from {newest_and_next} n order by id desc limit 1 offset :keep)
    and not exists (select 1 from windlass_parents p where p.parent_id = e.id and not p.settled)
limit :most;

insert into windlass_deltas (at, tenant_id, queue, definition, completed, canceled, dead_letter)
select {now}, tenant_id, queue, definition, -count(*) filter (where state = 'completed'),
    -count(*) filter (where state = 'canceled'), -count(*) filter (where state = 'dead_letter')
from temp.picked chosen cross join windlass_ended e on e.rowid = chosen.row
group by tenant_id, queue, definition;

-- answer
select count(*) as pruned from temp.picked;

delete from windlass_attempts where job_id in (select id from temp.picked);
delete from windlass_transitions where job_id in (select id from temp.picked);
delete from windlass_logs where job_id in (select id from temp.picked);
delete from windlass_keys where job_id in (select id from temp.picked);
delete from windlass_done where job_id in (select id from temp.picked);
delete from windlass_parents where child_id in (select id from temp.picked);
delete from windlass_ended where rowid in (select row from temp.picked);
delete from temp.picked
