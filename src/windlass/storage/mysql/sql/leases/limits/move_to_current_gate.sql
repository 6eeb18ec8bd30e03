-- Moves some queued jobs behind the gate their definition has now.
-- They are found first and moved then: a job that a transaction still open has stored is not waited
-- for.
select max(id) into @windlass_last from (
    select id from windlass_live force index (primary) where id > :cursor order by id limit :most
) w;

select coalesce(json_arrayagg(j.id), '[]') into @windlass_moving
from windlass_live j force index (primary)
straight_join windlass_definitions d force index (primary) on d.`key` = j.definition
where j.id > :cursor and j.id <= @windlass_last and j.gate <> d.gate
    -- Others stand behind a gate of their own.
    and j.gate in ('', j.definition);

update json_table(@windlass_moving,
    '$[*]' columns (id char(36) character set ascii collate ascii_bin path '$')) n
straight_join windlass_live j force index (primary) on j.id = n.id
straight_join windlass_definitions d force index (primary) on d.`key` = j.definition
set j.gate = d.gate
where j.gate <> d.gate and j.gate in ('', j.definition);

select @windlass_last as last_id, json_length(@windlass_moving) as moved
