-- Creates a user, unless there is one of that name.
insert into windlass_users (id, name, password_hash, superadmin, created_at)
values (:id, :name, :password_hash, :superadmin, {now})
{or_ignore windlass_users.id};

select id from windlass_users where id = :id
