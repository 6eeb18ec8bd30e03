-- Records the jobs that a trigger made for due times; recorded already, they stay.
insert into windlass_firings (trigger_id, due_at, job_id)
select f.trigger_id, f.due_at, f.job_id from {firings} f where true
{or_ignore windlass_firings.trigger_id}
