-- Makes a user, unless there is one of that name.
insert into windlass_users (id, name, password_hash, superadmin, created_at)
values (:id, :name, :password_hash, :superadmin, {now})
on conflict do nothing
returning id
