-- Deletes the slots of workers of minutes more than :days ago.
delete from windlass_worker_minutes where minute < {now} - {days :days} returning workers
