-- The installation's epoch, one row. Safe while older code runs: it does not read the table. Each statement
-- can be repeated.

create table if not exists windlass_installation (
    id integer primary key check (id = 1),
    -- Changes when the database was restored, or promoted without its last transactions.
    epoch varchar(64) character set ascii collate ascii_bin not null,
    -- The server the epoch belongs to, as far as the server can say which it is.
    server varchar(191) character set ascii collate ascii_bin,
    -- Lease tokens of this epoch are greater: none that was ever given is given again.
    token_floor bigint not null default 0,
    begun_at datetime(6) not null
) engine = InnoDB default charset = utf8mb4 /*M! collate = utf8mb4_nopad_bin */ /*!80017 collate = utf8mb4_0900_bin */;

insert ignore into windlass_installation (id, epoch, begun_at) values (1, uuid(), utc_timestamp(6));
