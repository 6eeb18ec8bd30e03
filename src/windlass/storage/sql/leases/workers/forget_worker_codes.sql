-- Forgets which code workers ran that have no row and began long ago.
delete from windlass_worker_codes
where recorded_at < {now} - {seconds :seconds}
    and worker_id not in (select id from windlass_workers)
returning worker_id
