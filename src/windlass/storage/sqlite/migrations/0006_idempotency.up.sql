-- What was answered to requests that came with an Idempotency-Key, so that one that is repeated is
-- answered the same and does nothing again.

create table windlass_answers (
    -- Of whoever asks, the method, the path and the key: nobody can read another's by its key.
    key_hash text not null primary key check (length(key_hash) = 64),
    -- The empty one is the installation's.
    tenant_id text not null check (length(tenant_id) <= 191),
    request_hash text not null check (length(request_hash) = 64),
    -- Who does what is asked, until then; once it is answered, until when that is kept.
    holder text not null,
    status integer,
    body text,
    until integer not null
) strict;
create index windlass_answers_until on windlass_answers (until);
