-- Takes an idempotency key for a request, unless it is held or has a response. Returns its holder
-- and response.
insert into windlass_answers (key_hash, tenant_id, request_hash, holder, until)
values (:key_hash, :tenant_id, :request_hash, :holder, {now} + {seconds :hold})
{on_conflict key_hash}
    request_hash = case when windlass_answers.until <= {now} then {new request_hash}
        else windlass_answers.request_hash end,
    holder = case when windlass_answers.until <= {now} then {new holder}
        else windlass_answers.holder end,
    status = case when windlass_answers.until <= {now} then null else windlass_answers.status end,
    body = case when windlass_answers.until <= {now} then null else windlass_answers.body end,
    until = case when windlass_answers.until <= {now} then {new until}
        else windlass_answers.until end;

select holder, request_hash, status, body from windlass_answers where key_hash = :key_hash
