-- Who may do what: users, members of tenants, tokens, sessions and one-time links; the audit chain
-- of what they change; and bulk operations.

create table windlass_users (
    id uuid primary key,
    name text not null check (length(name) between 1 and 191),
    password_hash text,
    superadmin boolean not null default false,
    disabled boolean not null default false,
    created_at timestamptz not null,
    last_login_at timestamptz
);
create unique index windlass_users_name on windlass_users (name);

create table windlass_members (
    user_id uuid not null references windlass_users (id) on delete cascade,
    tenant_id text not null check (length(tenant_id) between 1 and 191),
    role text not null check (length(role) between 1 and 64),
    permissions json not null default '[]',
    created_at timestamptz not null,
    primary key (user_id, tenant_id)
);
create index windlass_members_tenant on windlass_members (tenant_id);

-- Of secrets only hashes are kept, here and below.
create table windlass_tokens (
    id uuid primary key,
    name text not null check (length(name) between 1 and 191),
    hash text not null check (length(hash) = 64),
    role text not null check (length(role) between 1 and 64),
    tenant_id text check (length(tenant_id) between 1 and 191),
    -- What the role is narrowed to; null leaves it whole.
    rights json,
    permissions json not null default '[]',
    created_by uuid references windlass_users (id) on delete set null,
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz
);
create index windlass_tokens_tenant on windlass_tokens (tenant_id, id);
create index windlass_tokens_created_by on windlass_tokens (created_by) where created_by is not null;

create table windlass_sessions (
    id uuid primary key,
    hash text not null check (length(hash) = 64),
    user_id uuid not null references windlass_users (id) on delete cascade,
    created_at timestamptz not null,
    -- When it ends if it is not seen again, and when it ends anyway.
    expires_at timestamptz not null,
    ends_at timestamptz not null,
    last_seen_at timestamptz not null,
    note text not null default ''
);
create unique index windlass_sessions_hash on windlass_sessions (hash);
create index windlass_sessions_user on windlass_sessions (user_id);
create index windlass_sessions_expires on windlass_sessions (expires_at);

create table windlass_links (
    hash text primary key check (length(hash) = 64),
    purpose text not null check (purpose in ('login', 'password')),
    user_id uuid not null references windlass_users (id) on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz
);
create index windlass_links_user on windlass_links (user_id);
create index windlass_links_expires on windlass_links (expires_at);

-- Logins tried for an account or from an address, until the window is over.
create table windlass_login_tries (
    key text primary key check (length(key) between 1 and 100),
    tries integer not null,
    until timestamptz not null
);
create index windlass_login_tries_until on windlass_login_tries (until);

-- One chain of entries for each tenant; the empty one is the installation's. Entries are added and
-- never changed: a database role may be granted no more than that.
create table windlass_audit (
    tenant_id text not null,
    sequence bigint not null check (sequence >= 1),
    at timestamptz not null,
    actor text not null,
    actor_kind text not null,
    actor_name text not null,
    action text not null,
    target_kind text not null,
    target_id text not null,
    outcome text not null check (outcome in ('allowed', 'refused')),
    -- Text, not json: hashes are of the exact text.
    value_before text,
    value_after text,
    request_id text,
    previous_hash text not null,
    hash text not null,
    primary key (tenant_id, sequence)
);

-- Where each chain ends. Its row is what makes the numbers of concurrent entries follow each other.
create table windlass_audit_heads (
    tenant_id text primary key,
    sequence bigint not null,
    hash text not null
);

create table windlass_operations (
    id uuid primary key,
    tenant_id text check (length(tenant_id) between 1 and 191),
    action text not null check (action in ('cancel', 'retry', 'run_now', 'discard')),
    query text not null,
    reason text,
    state text not null default 'running' check (state in ('running', 'completed', 'stopped')),
    total integer not null check (total >= 0),
    done integer not null default 0,
    failed integer not null default 0,
    skipped integer not null default 0,
    actor text not null,
    actor_kind text not null,
    actor_name text not null,
    created_by uuid references windlass_users (id) on delete set null,
    undo_of uuid,
    created_at timestamptz not null,
    stop_requested_at timestamptz,
    finished_at timestamptz,
    -- Who works on it holds the token until then; each taking makes a new one.
    token bigint not null default 0,
    taken_until timestamptz not null
);
create index windlass_operations_open on windlass_operations (taken_until) where state = 'running';
create index windlass_operations_tenant on windlass_operations (tenant_id, id);
create index windlass_operations_finished on windlass_operations (finished_at) where finished_at is not null;
create index windlass_operations_created_by on windlass_operations (created_by) where created_by is not null;

create table windlass_operation_items (
    operation_id uuid not null references windlass_operations (id) on delete cascade,
    place integer not null,
    job_id uuid not null,
    state text not null default 'waiting' check (state in ('waiting', 'done', 'failed', 'skipped')),
    -- What became of the job, or why nothing did.
    note text,
    primary key (operation_id, place)
);
create index windlass_operation_items_waiting on windlass_operation_items (operation_id, place) where state = 'waiting';

-- Further indexes of this migration stand below this line.
