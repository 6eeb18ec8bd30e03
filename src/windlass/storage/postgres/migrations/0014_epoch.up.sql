-- The installation's epoch, one row. Safe while older code runs: it does not read the table.

create table windlass_installation (
    id integer primary key check (id = 1),
    -- Changes when the database was restored, or promoted without its last transactions.
    epoch text not null,
    -- The server the epoch belongs to, as far as the server can say which it is.
    server text,
    -- Lease tokens of this epoch are greater: none that was ever given is given again.
    token_floor bigint not null default 0,
    begun_at timestamptz not null default statement_timestamp()
);
insert into windlass_installation (id, epoch) values (1, md5(random()::text || clock_timestamp()::text));
