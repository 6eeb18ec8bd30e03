-- Tells which of these jobs are stored, wherever they rest.
select j.id from {ids} i straight_join windlass_live j force index (primary) on j.id = i.id
union
select j.id from {ids} i straight_join windlass_later j force index (primary) on j.id = i.id
union
select j.id from {ids} i straight_join windlass_ended j force index (primary) on j.id = i.id
