-- Ends of audit chains are signed with a key that is not in the database, and signed chains are listed. Old code
-- goes on: it leaves the signature alone, so set a key only when no old process is left.
alter table windlass_audit_heads add signature text;

-- Every signed chain, numbered in the order in which they were started.
create table windlass_audit_chains (
    tenant_id text primary key,
    number bigint not null,
    signature text not null
);

-- One row: how many chains are listed.
create table windlass_audit_registry (
    id integer primary key check (id = 1),
    chains bigint not null,
    signature text
);
