-- Takes a key for a request, unless it is held or answered; tells who has it and what was answered.
insert into windlass_answers (key_hash, tenant_id, request_hash, holder, until)
values (:key_hash, :tenant_id, :request_hash, :holder, {now} + interval round(:hold * 1000000) microsecond)
on duplicate key update
    request_hash = if(until <= {now}, values(request_hash), request_hash),
    holder = if(until <= {now}, values(holder), holder),
    status = if(until <= {now}, null, status),
    body = if(until <= {now}, null, body),
    until = if(until <= {now}, values(until), until);

select holder, request_hash, status, body from windlass_answers where key_hash = :key_hash
