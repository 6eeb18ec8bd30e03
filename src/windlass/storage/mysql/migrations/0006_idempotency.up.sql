-- What was answered to requests that came with an Idempotency-Key, so that one that is repeated is
-- answered the same and does nothing again. Each statement can be repeated.

create table if not exists windlass_answers (
    -- Of whoever asks, the method, the path and the key: nobody can read another's by its key.
    key_hash char(64) character set ascii collate ascii_bin not null primary key,
    -- The empty one is the installation's.
    tenant_id varchar(191) not null,
    request_hash char(64) character set ascii collate ascii_bin not null,
    -- Who does what is asked, until then; once it is answered, until when that is kept.
    holder varchar(64) character set ascii collate ascii_bin not null,
    status smallint,
    body longtext,
    until datetime(6) not null,
    index windlass_answers_until (until)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;
