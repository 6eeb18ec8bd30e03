-- Moves some queued jobs behind the gate their definition has now.

-- let window_of
select id from windlass_live where id > :cursor order by id limit :most;

-- let moving
select j.id, d.gate from {window_of} w
cross join windlass_live j on j.id = w.id
cross join windlass_definitions d on d.key = j.definition and d.gate <> j.gate
    -- Others stand behind a gate of their own.
    and j.gate in ('', j.definition);

-- answer
select (select max(id) from {window_of} w) as last_id, (select count(*) from {moving} m) as moved;

update windlass_live as j set gate = m.gate from {moving} m where j.id = m.id
