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
--
-- `claim.py` runs these statements: the second once for all lines, joined by `union all`, together
-- with the first, and releases what it locked where the first refuses.

-- The survey may be outdated: check again who may run, and take nothing under a limit that this
-- claim has not locked. The registry row stays locked in share mode: a new limit, also one of a
-- queue that has no row to lock yet, waits for this claim and counts what it takes.
select l.queue, l.tenant_id, l.gate,
    (select json_arrayagg(`key`) from windlass_definitions force index (primary)
     where `key` in :known_keys and enabled = 1 and gate = '' lock in share mode) as plain
from windlass_tenants registry force index (primary)
straight_join {lines} l
straight_join windlass_tenants t force index (primary) on t.id = l.tenant_id and t.state = 'active'
left join windlass_queues q force index (primary) on q.name = l.queue
left join windlass_definitions d on d.`key` = l.definition
where registry.id = 'system'
    and (t.max_running is null or t.id in :limited_tenants)
    and q.paused_at is null and (q.max_concurrency is null or q.name in :limited_queues)
    and (l.gate = '' or d.enabled = 1 and (d.gate = l.gate or l.gate <> d.`key`)
        and d.`key` in :known_keys
         and (coalesce(d.max_concurrency, d.max_per_key, d.rate_count, d.key_rate_count) is null
              or d.`key` in :limited_definitions))
lock in share mode;

-- The index gives the order, and only the rows that are taken stay locked.
(select {now} as now_at,
    coalesce((select token_floor from windlass_installation where id = 1), 0) as token_floor,
    -- The driver reads one long column many times faster than twenty short ones.
    json_array(:place, j.id, j.payload, j.lease_token, j.definition, j.priority, j.attempts,
        j.max_attempts, j.worker_deaths, j.created_at, j.queued_at, j.due_at, j.source,
        if(j.source_ref is null and j.correlation_id is null and j.created_by is null
            and j.trigger_due_at is null and j.metadata is null, null,
            json_array(j.source_ref, j.correlation_id, j.created_by, j.trigger_due_at, j.metadata)),
        j.timeout_seconds) as packed
 from windlass_live j force index (windlass_live_line)
 where j.queue = :queue and j.tenant_id = :tenant_id and j.gate = :gate
    and j.state = 'queued' and j.definition in :definitions
    and (j.expires_at is null or j.expires_at > {now} or j.started_at is not null)
 order by j.priority, j.due_at, j.id
 limit :line_limit
 for update skip locked);

update windlass_live force index (primary)
set state = 'running',
    room = null,
    lease_token = greatest(lease_token, :token_floor) + 1,
    lease_expires_at = :now_at + interval round(:lease_seconds * 1000000) microsecond,
    worker_id = :worker_id,
    attempts = attempts + 1,
    started_at = coalesce(started_at, :now_at),
    last_started_at = :now_at,
    updated_at = :now_at
where id in :ids;

insert into windlass_deltas (at, tenant_id, queue, definition, queued, running, wait_ms)
select :now_at, tenant_id, queue, definition, -taken, taken, wait_ms
from json_table(:taken, '$[*]' columns (
    tenant_id varchar(191) character set utf8mb4 path '$[0]',
    queue varchar(191) character set utf8mb4 path '$[1]',
    definition varchar(191) character set utf8mb4 path '$[2]', taken integer path '$[3]',
    wait_ms bigint path '$[4]')) t;

insert into windlass_holds (job_id, name)
select job_id, name
from json_table(:holds, '$[*]' columns (
    job_id char(36) path '$[0]', name varchar(300) character set utf8mb4 path '$[1]')) h
