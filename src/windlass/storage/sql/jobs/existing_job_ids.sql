-- Returns the ids among these that are stored, in whichever table.
select j.id from {ids} i {join} windlass_live j {index primary} on j.id = i.id
union
select j.id from {ids} i {join} windlass_later j {index primary} on j.id = i.id
union
select j.id from {ids} i {join} windlass_ended j {index primary} on j.id = i.id
