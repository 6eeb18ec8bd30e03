-- Records progress of the leases this worker still holds.
with asked as (
    select cast(cast(:reports__by_lease as text) as jsonb) as r
)
update windlass_live j
set progress = cast((select r
    from asked) -> concat(j.id, ' ', j.lease_token) ->> 'progress' as double precision),
    progress_note = (select r from asked) -> concat(j.id, ' ', j.lease_token) ->> 'note',
    updated_at = {now}
where j.id = any(array(select cast(split_part(k, ' ', 1) as uuid)
    from jsonb_object_keys((select r from asked)) k))
    and j.state = 'running' and j.worker_id = :worker_id
    and (select r from asked) -> concat(j.id, ' ', j.lease_token) is not null
returning j.id
