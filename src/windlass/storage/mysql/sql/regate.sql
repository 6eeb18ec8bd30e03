-- Moves some queued jobs behind the gate their definition has now.
select max(id) into @windlass_last from (
    select id from windlass_live force index (primary) where id > :cursor order by id limit :most
) w;

update windlass_live j force index (primary)
straight_join windlass_definitions d force index (primary) on d.`key` = j.definition
set j.gate = d.gate
where j.id > :cursor and j.id <= @windlass_last and j.gate <> d.gate;

select @windlass_last as last_id, row_count() as moved
