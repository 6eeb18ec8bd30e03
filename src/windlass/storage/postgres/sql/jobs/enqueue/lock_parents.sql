-- Waits for transactions that are ending a parent of these jobs: the next statement sees it ended.
-- A parent that goes on gets a new version of its row: an end that began before these jobs were
-- stored cannot see them, but sees that.
with parents as (
    select distinct p.parent_id from windlass_parents p
    where p.child_id = any(array(select id from {ids} i)) and not p.settled
),
a as (select l.id from windlass_live l where l.id = any(array(select parent_id from parents))
    order by l.id for no key update),
b as (select l.id from windlass_later l where l.id = any(array(select parent_id from parents))
    order by l.id for no key update),
c as (update windlass_live l set unchecked = true where l.id = any(array(select id from a))
    returning l.id),
d as (update windlass_later l set held = l.held where l.id = any(array(select id from b))
    returning l.id)
select id from c union all select id from d
