-- Waiting jobs that are changed in bulk, and causes of failure that people do not want to hear of.

-- An action has one more kind, and what it changes, as JSON; nothing else has any.
alter table windlass_operations
    drop constraint windlass_operations_action_check,
    add constraint windlass_operations_action_check
        check (action in ('cancel', 'retry', 'run_now', 'discard', 'update')),
    add changes text;

-- Dead-lettered jobs of one cause that are not shown, and do not alarm anybody, until then.
create table windlass_mutes (
    definition text not null check (length(definition) between 1 and 191),
    -- The empty one is the cause that nobody knows.
    fingerprint text not null check (length(fingerprint) <= 64),
    -- The empty one means all tenants.
    tenant_id text not null check (length(tenant_id) <= 191),
    muted_at timestamptz not null,
    muted_by text,
    muted_until timestamptz,
    reason text,
    primary key (definition, fingerprint, tenant_id)
);
