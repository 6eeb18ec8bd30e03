-- Gives an order to a live worker; one that stops accepts no other. Returns its id if it accepts.
-- Columns are set one after the other here, so `wanted` is the last.
update windlass_workers
set wanted_by = case when wanted = :wanted then wanted_by else :wanted_by end,
    wanted_at = case when wanted = :wanted then wanted_at else {now} end,
    wanted = :wanted
where id = :id and last_seen_at > {now} - interval round(lease_seconds * 1000000) microsecond
    and (:wanted = 'stop' or 'stop' not in (wanted, doing));

-- Not by the rows changed: what was wanted already changes nothing, and is answered alike.
select id from windlass_workers
where id = :id and wanted = :wanted
    and last_seen_at > {now} - interval round(lease_seconds * 1000000) microsecond
    and (:wanted = 'stop' or doing <> 'stop')
