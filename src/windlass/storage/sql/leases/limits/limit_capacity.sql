-- How much is left of each: of what may run, or of what may begin. Only exact for what this
-- transaction has locked.
select r.name, r.kind, r.most - case r.kind
    when 'running' then (select count(*) from windlass_holds h where h.name = r.name)
    else (select coalesce(sum(s.started), 0) from windlass_starts s
        where s.name = r.name and s.until > {now})
    end as room
from {rooms} r
