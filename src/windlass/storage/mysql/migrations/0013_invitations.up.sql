-- Roles that were offered and not accepted yet. An invitation names a person and refers to no account: whether
-- there is one makes no difference until its link is opened. Each statement can be repeated.

create table if not exists windlass_invitations (
    -- The empty one is the installation's: the role there is superadmin.
    tenant_id varchar(191) not null,
    name varchar(191) not null,
    role varchar(64) not null,
    permissions longtext not null default ('[]'),
    -- Of the link's secret.
    hash char(64) character set ascii collate ascii_bin not null,
    created_at datetime(6) not null,
    expires_at datetime(6) not null,
    primary key (tenant_id, name),
    unique index windlass_invitations_hash (hash),
    index windlass_invitations_name (name),
    index windlass_invitations_expires (expires_at),
    constraint windlass_invitations_named check (char_length(name) >= 1 and char_length(role) >= 1)
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

-- A link to set a password that was made for an invitation may be in the hands of who invited. It would open an
-- account that may have roles of other tenants by now.
delete from windlass_links where purpose = 'password';
