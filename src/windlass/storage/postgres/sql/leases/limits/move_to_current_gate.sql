-- Moves some queued jobs behind the gate their definition has now.
with window_of as (
    select id from windlass_live where id > cast(:cursor as uuid) order by id limit :most
),
moved as (
    update windlass_live j set gate = d.gate
    from windlass_definitions d
    where j.id = any(array(select id from window_of)) and d.key = j.definition and j.gate <> d.gate
        -- Others stand behind a gate of their own.
        and j.gate in ('', j.definition)
    returning j.id
)
select (select id from window_of order by id desc limit 1) as last_id,
    (select count(*) from moved) as moved
