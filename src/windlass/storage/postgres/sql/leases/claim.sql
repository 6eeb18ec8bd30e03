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
-- position  where in a line to begin: what lies before it was leased by the last claims, and
--           skipping those index entries would dominate a claim's cost. More urgent priorities are
--           always read

-- let can_start
j.state = 'queued'
    and j.definition = any(case when l.gate = '' then (select keys from unlimited_definitions)
        else array[l.definition] end)
    and (j.expires_at is null or j.expires_at > {now} or j.started_at is not null);

with unlimited_definitions as (
    select array(select key from windlass_definitions
                 where key = any(cast(:known_keys as text[])) and enabled and gate = '') as keys
),
candidates as (
    select
        c.id,
        l.tenant_limit,
        row_number() over (partition by l.queue, l.tenant_id
            order by c.priority, c.due_at, c.id) as tenant_place
    from {lines} l
    -- The survey may be outdated: check again who may run, and take nothing under a limit that this
    -- claim has not locked.
    join windlass_tenants t on t.id = l.tenant_id and t.state = 'active'
        and (t.max_running is null or exists (select 1 from {limits} m where m.tenant_id = t.id))
    left join windlass_queues q on q.name = l.queue
    left join windlass_definitions d on d.key = l.definition
    cross join lateral (
        select more_urgent.* from (
            select j.id, j.priority, j.due_at
            from windlass_live j
            where j.queue = l.queue and j.tenant_id = l.tenant_id and j.gate = l.gate
                and j.priority < l.begin_priority
                and {can_start}
            order by j.priority, j.due_at, uuid_send(j.id)
            limit l.line_limit
            for update skip locked
        ) more_urgent
        union all
        select from_position.* from (
            select j.id, j.priority, j.due_at
            from windlass_live j
            where j.queue = l.queue and j.tenant_id = l.tenant_id and j.gate = l.gate
                and (j.priority, j.due_at, uuid_send(j.id)) >= (l.begin_priority, l.begin_due_at,
                    uuid_send(l.begin_id))
                and {can_start}
            order by j.priority, j.due_at, uuid_send(j.id)
            limit l.line_limit
            for update skip locked
        ) from_position
        limit l.line_limit
    ) c
    where q.paused_at is null
        and (q.max_concurrency is null or exists (select 1 from {limits} m where m.queue = l.queue))
        and (l.gate = ''
            or d.enabled and (d.gate = l.gate or l.gate <> d.key)
                and d.key = any(cast(:known_keys as text[]))
                and (coalesce(d.max_concurrency, d.max_per_key, d.rate_count,
                    d.key_rate_count) is null
                     or exists (select 1 from {limits} m where m.definition = d.key)))
),
claimed as (
    update windlass_live j
    set state = 'running',
        lease_token = greatest(j.lease_token, (select token_floor from windlass_installation)) + 1,
        lease_expires_at = {now} + cast(:lease_seconds as double precision) * interval '1 second',
        worker_id = :worker_id,
        attempts = j.attempts + 1,
        started_at = coalesce(j.started_at, {now}),
        last_started_at = {now},
        updated_at = {now}
    where j.id = any(array(select id from candidates where tenant_place <= tenant_limit))
        and j.state = 'queued'
    returning j.id, j.lease_token, j.tenant_id, j.definition, j.queue, j.payload, j.priority,
        j.attempts, j.max_attempts, j.worker_deaths, j.created_at, j.queued_at, j.due_at,
        j.last_started_at, j.source, j.source_ref, j.correlation_id, j.created_by,
        j.trigger_due_at, j.timeout_seconds, j.metadata, j.gate
),
recorded_claim as (
    insert into windlass_claims (worker_id, job_ids, look_at)
    select :worker_id, array_agg(id),
    {now} + cast(:lease_seconds as double precision) * interval '1 second'
    from claimed having count(*) > 0
),
held_limits as (
    insert into windlass_holds (job_id, name)
    select c.id, m.name from claimed c join {limits} m on m.definition = c.definition
    union all
    select c.id, m.name from claimed c join {limits} m on m.tenant_id = c.tenant_id
    union all
    select c.id, m.name from claimed c join {limits} m on m.queue = c.queue
    union all
    select c.id, 'key:' || c.definition || substr(c.gate, strpos(c.gate, chr(30))) from claimed c
        join {limits} m on m.definition = c.definition and m.per_key
    where strpos(c.gate, chr(30)) > 0
),
recorded_deltas as (
    insert into windlass_deltas (at, tenant_id, queue, definition, queued, running, wait_ms)
    select {now}, tenant_id, queue, definition, -count(*), count(*),
        cast(sum(extract(epoch from last_started_at - due_at)) * 1000 as bigint)
    from claimed group by tenant_id, queue, definition
)
-- As whole numbers, which the driver converts faster than timestamps.
select id, lease_token, tenant_id, definition, queue, payload, priority, attempts, max_attempts,
    worker_deaths,
    cast(date_part('epoch', created_at) * 1000000 as bigint) as created_at,
    cast(date_part('epoch', queued_at) * 1000000 as bigint) as queued_at,
    cast(date_part('epoch', due_at) * 1000000 as bigint) as due_at,
    cast(date_part('epoch', last_started_at) * 1000000 as bigint) as last_started_at,
    source, source_ref, correlation_id, created_by, trigger_due_at, timeout_seconds, metadata, gate
from claimed
