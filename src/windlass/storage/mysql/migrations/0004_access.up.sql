-- Who may do what: users, members of tenants, tokens, sessions and one-time links; the audit chain
-- of what they change; and bulk operations. Each statement can be repeated.

create table if not exists windlass_users (
    id char(36) character set ascii collate ascii_bin not null primary key,
    name varchar(191) not null,
    password_hash varchar(500) character set ascii collate ascii_bin,
    superadmin tinyint(1) not null default 0,
    disabled tinyint(1) not null default 0,
    created_at datetime(6) not null,
    last_login_at datetime(6),
    constraint windlass_users_name_length check (char_length(name) between 1 and 191),
    unique index windlass_users_name (name)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_members (
    user_id char(36) character set ascii collate ascii_bin not null,
    tenant_id varchar(191) not null,
    role varchar(64) not null,
    permissions longtext not null default ('[]'),
    created_at datetime(6) not null,
    primary key (user_id, tenant_id),
    index windlass_members_tenant (tenant_id),
    constraint windlass_members_named check (char_length(tenant_id) >= 1 and char_length(role) >= 1),
    constraint windlass_members_user foreign key (user_id) references windlass_users (id) on delete cascade
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Of secrets only hashes are kept, here and below.
create table if not exists windlass_tokens (
    id char(36) character set ascii collate ascii_bin not null primary key,
    name varchar(191) not null,
    hash char(64) character set ascii collate ascii_bin not null,
    role varchar(64) not null,
    tenant_id varchar(191),
    -- What the role is narrowed to; null leaves it whole.
    rights longtext,
    permissions longtext not null default ('[]'),
    created_by char(36) character set ascii collate ascii_bin,
    created_at datetime(6) not null,
    expires_at datetime(6),
    last_used_at datetime(6),
    revoked_at datetime(6),
    index windlass_tokens_tenant (tenant_id, id),
    constraint windlass_tokens_named check (char_length(name) >= 1 and char_length(role) >= 1 and char_length(tenant_id) >= 1),
    constraint windlass_tokens_hash check (char_length(hash) = 64),
    constraint windlass_tokens_created_by foreign key (created_by) references windlass_users (id) on delete set null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_sessions (
    id char(36) character set ascii collate ascii_bin not null primary key,
    hash char(64) character set ascii collate ascii_bin not null,
    user_id char(36) character set ascii collate ascii_bin not null,
    created_at datetime(6) not null,
    -- When it ends if it is not seen again, and when it ends anyway.
    expires_at datetime(6) not null,
    ends_at datetime(6) not null,
    last_seen_at datetime(6) not null,
    note varchar(500) not null default '',
    unique index windlass_sessions_hash (hash),
    index windlass_sessions_expires (expires_at),
    constraint windlass_sessions_hash_length check (char_length(hash) = 64),
    constraint windlass_sessions_user foreign key (user_id) references windlass_users (id) on delete cascade
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_links (
    hash char(64) character set ascii collate ascii_bin not null primary key,
    purpose varchar(16) character set ascii collate ascii_bin not null,
    user_id char(36) character set ascii collate ascii_bin not null,
    created_at datetime(6) not null,
    expires_at datetime(6) not null,
    used_at datetime(6),
    index windlass_links_expires (expires_at),
    constraint windlass_links_hash_length check (char_length(hash) = 64),
    constraint windlass_links_purpose check (purpose in ('login', 'password')),
    constraint windlass_links_user foreign key (user_id) references windlass_users (id) on delete cascade
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Logins tried for an account or from an address, until the window is over.
create table if not exists windlass_login_tries (
    `key` varchar(100) not null primary key,
    tries integer not null,
    until datetime(6) not null,
    index windlass_login_tries_until (until),
    constraint windlass_login_tries_key check (char_length(`key`) >= 1)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- One chain of entries for each tenant; the empty one is the installation's. Entries are added and
-- never changed: a database role may be granted no more than that.
create table if not exists windlass_audit (
    tenant_id varchar(191) not null,
    sequence bigint not null,
    at datetime(6) not null,
    actor varchar(500) not null,
    actor_kind varchar(16) character set ascii collate ascii_bin not null,
    actor_name varchar(500) not null,
    action varchar(191) not null,
    target_kind varchar(191) not null,
    target_id varchar(500) not null,
    outcome varchar(16) character set ascii collate ascii_bin not null,
    value_before longtext,
    value_after longtext,
    request_id varchar(500),
    previous_hash char(64) character set ascii collate ascii_bin not null,
    hash char(64) character set ascii collate ascii_bin not null,
    primary key (tenant_id, sequence),
    constraint windlass_audit_sequence check (sequence >= 1),
    constraint windlass_audit_outcome check (outcome in ('allowed', 'refused'))
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Where each chain ends. Its row is what makes the numbers of concurrent entries follow each other.
create table if not exists windlass_audit_heads (
    tenant_id varchar(191) not null primary key,
    sequence bigint not null,
    hash char(64) character set ascii collate ascii_bin not null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_operations (
    id char(36) character set ascii collate ascii_bin not null primary key,
    tenant_id varchar(191),
    action varchar(16) character set ascii collate ascii_bin not null,
    query longtext not null,
    reason longtext,
    state varchar(16) character set ascii collate ascii_bin not null default 'running',
    total integer not null,
    done integer not null default 0,
    failed integer not null default 0,
    skipped integer not null default 0,
    actor varchar(500) not null,
    actor_kind varchar(16) character set ascii collate ascii_bin not null,
    actor_name varchar(500) not null,
    created_by char(36) character set ascii collate ascii_bin,
    undo_of char(36) character set ascii collate ascii_bin,
    created_at datetime(6) not null,
    stop_requested_at datetime(6),
    finished_at datetime(6),
    -- Who works on it holds the token until then; each taking makes a new one.
    token bigint not null default 0,
    taken_until datetime(6) not null,
    index windlass_operations_open (state, taken_until),
    index windlass_operations_tenant (tenant_id, id),
    index windlass_operations_finished (finished_at),
    constraint windlass_operations_tenant_named check (char_length(tenant_id) >= 1),
    constraint windlass_operations_action check (action in ('cancel', 'retry', 'run_now', 'discard')),
    constraint windlass_operations_state check (state in ('running', 'completed', 'stopped')),
    constraint windlass_operations_total check (total >= 0),
    constraint windlass_operations_created_by foreign key (created_by) references windlass_users (id) on delete set null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

create table if not exists windlass_operation_items (
    operation_id char(36) character set ascii collate ascii_bin not null,
    place integer not null,
    job_id char(36) character set ascii collate ascii_bin not null,
    state varchar(16) character set ascii collate ascii_bin not null default 'waiting',
    -- What became of the job, or why nothing did.
    note longtext,
    primary key (operation_id, place),
    index windlass_operation_items_waiting (operation_id, state, place),
    constraint windlass_operation_items_state check (state in ('waiting', 'done', 'failed', 'skipped')),
    constraint windlass_operation_items_operation foreign key (operation_id) references windlass_operations (id) on delete cascade
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- Further indexes of this migration stand below this line.
