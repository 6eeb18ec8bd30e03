-- Creates a tenant, unless there is, or was, one with that id.
-- answer
select 1 as made from dual
where not exists (select 1 from windlass_tenants where id = :id for update);

insert into windlass_tenants (id, name, state, weight, max_running, max_open, timezone, created_at,
    updated_at)
values (:id, :name, :state, :weight, :max_running, :max_open, :timezone, {now}, {now})
on duplicate key update id = windlass_tenants.id
