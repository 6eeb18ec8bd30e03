-- Says what is wanted of a worker that lives; one that stops can only be told to stop. Answers its id then.
update windlass_workers
set wanted = :wanted,
    wanted_by = case when wanted = :wanted then wanted_by else :wanted_by end,
    wanted_at = case when wanted = :wanted then wanted_at else {now} end
where id = :id and last_seen_at > {now} - cast(round(lease_seconds * 1000000) as integer)
    and (:wanted = 'stop' or 'stop' not in (wanted, doing))
returning id
