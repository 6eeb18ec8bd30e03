-- Roles that were offered and not accepted yet. An invitation names a person and refers to no account: whether
-- there is one makes no difference until its link is opened.

create table windlass_invitations (
    -- The empty one is the installation's: the role there is superadmin.
    tenant_id text not null check (length(tenant_id) <= 191),
    name text not null check (length(name) between 1 and 191),
    role text not null check (length(role) between 1 and 64),
    permissions text not null default '[]',
    -- Of the link's secret.
    hash text not null check (length(hash) = 64),
    created_at integer not null,
    expires_at integer not null,
    primary key (tenant_id, name)
) strict;
create unique index windlass_invitations_hash on windlass_invitations (hash);
create index windlass_invitations_name on windlass_invitations (name);
create index windlass_invitations_expires on windlass_invitations (expires_at);

-- A link to set a password that was made for an invitation may be in the hands of who invited. It would open an
-- account that may have roles of other tenants by now.
delete from windlass_links where purpose = 'password';
