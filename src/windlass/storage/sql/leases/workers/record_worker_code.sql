-- Records which code a worker runs, to be found after its row is gone; recorded already, it stays.
insert into windlass_worker_codes (worker_id, code, recorded_at)
values (:worker_id, :code, {now})
{or_ignore windlass_worker_codes.worker_id}
