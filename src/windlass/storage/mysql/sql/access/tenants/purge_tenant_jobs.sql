-- Deletes some ended jobs of a tenant with everything that hangs on them. Returns how many rows of
-- each kind.

-- let gone
select id from json_table(@windlass_gone, '$[*]' columns (
    id char(36) character set ascii collate ascii_bin path '$')) n;

select coalesce(json_arrayagg(id), '[]') into @windlass_gone from (
    select id from windlass_ended force index (windlass_ended_tenant) where tenant_id = :tenant_id
        limit :most for update
) p;

-- answer
select 'jobs' as name, json_length(@windlass_gone) as number
union all select 'attempts', count(*) from {gone} n
    straight_join windlass_attempts r force index (primary) on r.job_id = n.id
union all select 'transitions', count(*) from {gone} n
    straight_join windlass_transitions r force index (windlass_transitions_job) on r.job_id = n.id
union all select 'logs', count(*) from {gone} n
    straight_join windlass_logs r force index (primary) on r.job_id = n.id
union all select 'keys', count(*) from {gone} n
    straight_join windlass_keys r force index (windlass_keys_job) on r.job_id = n.id
union all select 'parents', count(*) from {gone} n
    straight_join windlass_parents r force index (primary) on r.child_id = n.id;

delete r from {gone} n straight_join windlass_attempts r force index (primary) on r.job_id = n.id;

delete r from {gone} n
straight_join windlass_transitions r force index (windlass_transitions_job) on r.job_id = n.id;

delete r from {gone} n straight_join windlass_logs r force index (primary) on r.job_id = n.id;

delete r from {gone} n
straight_join windlass_keys r force index (windlass_keys_job) on r.job_id = n.id;

delete d from {gone} n
straight_join windlass_done d force index (windlass_done_job) on d.job_id = n.id;

delete r from {gone} n straight_join windlass_parents r force index (primary) on r.child_id = n.id;

delete r from {gone} n
straight_join windlass_parents r force index (windlass_parents_parent) on r.parent_id = n.id;

delete e from {gone} n straight_join windlass_ended e force index (primary) on e.id = n.id
