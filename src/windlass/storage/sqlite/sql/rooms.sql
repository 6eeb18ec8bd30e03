-- How many more may run under each limit.
select l.name, l.max_running - (select count(*) from windlass_holds h where h.name = l.name) as room
from windlass_limits l where l.name in (select name from {names} n)
