-- Takes a key for a request, unless it is held or answered; tells who has it and what was answered.
insert into windlass_answers as a (key_hash, tenant_id, request_hash, holder, until)
values (:key_hash, :tenant_id, :request_hash, :holder, {now} + cast(:hold * 1000000 as integer))
on conflict (key_hash) do update set
    request_hash = excluded.request_hash,
    holder = excluded.holder,
    status = null,
    body = null,
    until = excluded.until
where a.until <= {now};

select holder, request_hash, status, body from windlass_answers where key_hash = :key_hash
