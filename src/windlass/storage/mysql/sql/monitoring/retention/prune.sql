-- Deletes some ended jobs of one definition that are past retention and that nothing waits for,
-- with everything that hangs on them. Cheap enough to run beside workers: it is capped.

-- let gone
select id from json_table(@windlass_gone, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$')) n;

-- let past
select id from json_table(@windlass_past, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$')) n;

select coalesce(json_arrayagg(id), '[]') into @windlass_past from (
    select id from (
    (select id from windlass_ended e force index (windlass_ended_definition)
     where definition = :definition and state = 'completed' and id < :before_id
        and finished_at < {now} - interval round(:days * 86400000000) microsecond
        and not exists (select 1 from windlass_parents p force index (windlass_parents_parent)
            where p.parent_id = e.id and p.settled = 0)
     order by id limit :most)
    union all
    (select id from windlass_ended e force index (windlass_ended_definition)
     where definition = :definition and state = 'canceled' and id < :before_id
        and finished_at < {now} - interval round(:days * 86400000000) microsecond
        and not exists (select 1 from windlass_parents p force index (windlass_parents_parent)
            where p.parent_id = e.id and p.settled = 0)
     order by id limit :most)
    union all
    (select id from windlass_ended e force index (windlass_ended_definition)
     where definition = :definition and state = 'dead_letter' and id < :before_id
        and finished_at < {now} - interval round(:days * 86400000000) microsecond
        and not :spare_dead
        and not exists (select 1 from windlass_parents p force index (windlass_parents_parent)
            where p.parent_id = e.id and p.settled = 0)
     order by id limit :most)
    ) each_state order by id limit :most
) p;

select coalesce(json_arrayagg(e.id), '[]') into @windlass_gone
from {past} n straight_join windlass_ended e force index (primary) on e.id = n.id
for update;

insert into windlass_deltas (at, tenant_id, queue, definition, completed, canceled, dead_letter)
select {now}, e.tenant_id, e.queue, e.definition, -sum(e.state = 'completed'),
    -sum(e.state = 'canceled'),
    -sum(e.state = 'dead_letter')
from {gone} n straight_join windlass_ended e force index (primary) on e.id = n.id
group by e.tenant_id, e.queue, e.definition;

delete a from {gone} n straight_join windlass_attempts a force index (primary) on a.job_id = n.id;

delete t from {gone} n
straight_join windlass_transitions t force index (windlass_transitions_job) on t.job_id = n.id;

delete l from {gone} n straight_join windlass_logs l force index (primary) on l.job_id = n.id;

delete k from {gone} n
straight_join windlass_keys k force index (windlass_keys_job) on k.job_id = n.id;

delete d from {gone} n
straight_join windlass_done d force index (windlass_done_job) on d.job_id = n.id;

delete p from {gone} n straight_join windlass_parents p force index (primary) on p.child_id = n.id;

delete e from {gone} n straight_join windlass_ended e force index (primary) on e.id = n.id;

select json_length(@windlass_gone) as pruned
