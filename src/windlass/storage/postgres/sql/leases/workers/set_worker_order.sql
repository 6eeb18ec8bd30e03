-- Says what is wanted of a worker that lives; one that stops can only be told to stop. Answers its id then.
update windlass_workers
set wanted = cast(:wanted as text),
    wanted_by = case when wanted = cast(:wanted as text) then wanted_by else cast(:wanted_by as text) end,
    wanted_at = case when wanted = cast(:wanted as text) then wanted_at else {now} end
where id = :id and last_seen_at > {now} - lease_seconds * interval '1 second'
    and (cast(:wanted as text) = 'stop' or 'stop' not in (wanted, doing))
returning id
