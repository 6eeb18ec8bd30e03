-- Waits for transactions that are ending a parent of these jobs: the next statement sees it ended.
select l.id
from {ids} i
straight_join windlass_parents p force index (primary) on p.child_id = i.id and p.settled = 0
straight_join windlass_live l force index (primary) on l.id = p.parent_id
lock in share mode;

select l.id
from {ids} i
straight_join windlass_parents p force index (primary) on p.child_id = i.id and p.settled = 0
straight_join windlass_later l force index (primary) on l.id = p.parent_id
lock in share mode
