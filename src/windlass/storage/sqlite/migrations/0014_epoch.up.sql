-- The installation's epoch, one row. Safe while older code runs: it does not read the table.

create table windlass_installation (
    id integer primary key check (id = 1),
    -- Changes when the database was restored, or promoted without its last transactions.
    epoch text not null,
    -- The server the epoch belongs to, as far as the server can say which it is.
    server text,
    -- Lease tokens of this epoch are greater: none that was ever given is given again.
    token_floor integer not null default 0,
    begun_at integer not null
);
insert into windlass_installation (id, epoch, begun_at)
values (1, lower(hex(randomblob(16))), cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) * 1000);
