-- Returns jobs that run now, by worker and the longest first: those of one worker or of all, and no
-- more of each than `most_each`.
select id, worker_id, tenant_id, definition, attempts, last_started_at, progress, progress_note,
    {since last_started_at} as elapsed
from (
    select j.id, j.worker_id, j.tenant_id, j.definition, j.attempts, j.last_started_at, j.progress,
        j.progress_note,
        row_number() over (partition by j.worker_id order by j.last_started_at, j.id) as place
    from windlass_live j force index (windlass_live_look)
    where j.look_at is not null and j.state = 'running'
        and ({text :worker_id} is null or j.worker_id = :worker_id)
        and ({text :tenant_id} is null or j.tenant_id = :tenant_id)
        and ({text :created_by} is null or j.created_by = :created_by)
) r
where place <= :most_each order by worker_id, place limit :most
