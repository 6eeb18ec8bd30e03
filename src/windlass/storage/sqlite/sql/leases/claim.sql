-- Leases due jobs of the given lines, each to one worker only, no more than each line's share.
--
-- line      the queued jobs of one queue, tenant and gate, in the order of priority, due time, id
-- gate      '' for a definition without limits, else its key, perhaps with a payload version and a
--           limit key (behind the character 30): jobs that a limit may stop stand apart by it
-- quota     the share of a line (line_limit) and of its tenant in the queue (tenant_limit), as the
--           survey and the fair share of the engine decided
-- limit     a limit on running jobs or on starts that this claim has locked; without its lock
--           nothing is taken under it (:limits)
-- hold      the row of a running job under a limit; it goes with the lease
-- delta     a change of the counts, added up later
-- picked    the temporary table with the rows of the jobs that are taken, and their lines

-- let known_keys
select value from json_each(:known_keys);

delete from temp.picked;

insert into temp.picked (row, line)
with unlimited_definitions as materialized (
    select key from windlass_definitions where key in {known_keys} and enabled and gate = ''
)
select j.rowid, l.rowid
from {lines} l
-- The survey may be outdated: check again who may run, and take nothing under a limit that this
-- claim has not counted.
cross join windlass_tenants t on t.id = l.tenant_id and t.state = 'active'
    and (t.max_running is null or exists (select 1 from {limits} m where m.tenant_id = t.id))
left join windlass_queues q on q.name = l.queue
left join windlass_definitions d on d.key = l.definition
cross join windlass_live j on j.rowid in (
    select c.rowid from windlass_live c
    where c.state = 'queued' and c.queue = l.queue and c.tenant_id = l.tenant_id and c.gate = l.gate
        and (c.definition = l.definition or l.gate = '' and c.definition in unlimited_definitions)
        and (c.expires_at is null or c.expires_at > {now} or c.started_at is not null)
    order by c.priority, c.due_at, c.id
    limit (select max(min(line_limit, tenant_limit)) from {lines} l))
where q.paused_at is null
    and (q.max_concurrency is null or exists (select 1 from {limits} m where m.queue = l.queue))
    and (l.gate = ''
        or d.enabled and (d.gate = l.gate or l.gate <> d.key) and d.key in {known_keys}
            and (coalesce(d.max_concurrency, d.max_per_key, d.rate_count, d.key_rate_count) is null
                 or exists (select 1 from {limits} m where m.definition = d.key)));

-- The `limit` above is that of the largest quota: remove what exceeds smaller ones.
delete from temp.picked where row in (
    select row from (
        select chosen.row, l.line_limit, l.tenant_limit,
            row_number() over (partition by chosen.line
                order by j.priority, j.due_at, j.id) as place_in_line,
            row_number() over (partition by l.queue, l.tenant_id
                order by j.priority, j.due_at, j.id) as place_of_tenant
        from temp.picked chosen
        cross join {lines} l on l.rowid = chosen.line
        cross join windlass_live j on j.rowid = chosen.row
        where (select count(*) from {lines} l) > 1
    )
    where place_in_line > line_limit or place_of_tenant > tenant_limit);

insert into windlass_holds (job_id, name)
select j.id, m.name from {limits} m
cross join temp.picked chosen
cross join windlass_live j on j.rowid = chosen.row
where m.definition = j.definition or m.tenant_id = j.tenant_id or m.queue = j.queue
union all
select j.id, 'key:' || j.definition || substr(j.gate, instr(j.gate, char(30))) from {limits} m
cross join temp.picked chosen
cross join windlass_live j on j.rowid = chosen.row
where m.definition = j.definition and m.per_key and instr(j.gate, char(30)) > 0;

insert into windlass_deltas (at, tenant_id, queue, definition, queued, running, wait_ms)
select {now}, j.tenant_id, j.queue, j.definition, -count(*), count(*), sum({now} - j.due_at) / 1000
from temp.picked chosen cross join windlass_live j on j.rowid = chosen.row
group by j.tenant_id, j.queue, j.definition;

update windlass_live
set state = 'running',
    lease_token =
        max(lease_token, coalesce((select token_floor from windlass_installation), 0)) + 1,
    lease_expires_at = {now} + cast(round(:lease_seconds * 1000000) as integer),
    worker_id = :worker_id,
    attempts = attempts + 1,
    started_at = coalesce(started_at, {now}),
    last_started_at = {now},
    updated_at = {now}
where rowid in (select row from temp.picked);

-- answer
select j.id, j.lease_token, j.tenant_id, j.definition, j.queue, j.payload, j.priority, j.attempts,
    j.max_attempts, j.worker_deaths, j.created_at, j.queued_at, j.due_at, j.last_started_at,
    j.source, j.source_ref, j.correlation_id, j.created_by, j.trigger_due_at, j.timeout_seconds,
    j.metadata, j.gate
from temp.picked chosen cross join windlass_live j on j.rowid = chosen.row;

delete from temp.picked
