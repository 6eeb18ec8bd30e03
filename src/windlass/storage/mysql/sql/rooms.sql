-- How many more may run under each limit. Only exact for limits this transaction has locked.
select l.name, l.max_running - (select count(*) from windlass_holds h where h.name = l.name) as room
from {names} n straight_join windlass_limits l force index (primary) on l.name = n.name
