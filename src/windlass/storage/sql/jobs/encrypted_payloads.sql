-- Some jobs after a cursor by their ids, in whichever table they are, with the payload of those
-- that have a ciphertext.
select id, tenant_id, definition,
    case when {text payload} like '%"windlass:sealed"%' then {text payload} end as payload
from (
    select * from (
        select id, tenant_id, definition, payload from windlass_live where id > {uuid :cursor}
            order by id limit :most
    ) in_line
    union all
    select * from (
        select id, tenant_id, definition, payload from windlass_later where id > {uuid :cursor}
            order by id limit :most
    ) waiting
    union all
    select * from (
        select id, tenant_id, definition, payload from windlass_ended where id > {uuid :cursor}
            order by id limit :most
    ) ended
) jobs
order by id limit :most
