-- Says what is wanted of a worker that lives; one that stops can only be told to stop. Answers its
-- id then.
update windlass_workers
set wanted = {text :wanted},
    wanted_by = case when wanted = {text :wanted} then wanted_by else {text :wanted_by} end,
    wanted_at = case when wanted = {text :wanted} then wanted_at else {now} end
where id = :id and last_seen_at > {now} - {seconds lease_seconds}
    and ({text :wanted} = 'stop' or 'stop' not in (wanted, doing))
returning id
