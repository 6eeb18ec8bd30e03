-- What operators want of a worker, who asked and since when; and what it does by now. Workers of the version
-- before go on, and hear of no order.
alter table windlass_workers
    add column /*M! if not exists */ wanted varchar(16) character set ascii collate ascii_bin not null default 'run',
    add column /*M! if not exists */ wanted_by longtext,
    add column /*M! if not exists */ wanted_at datetime(6),
    add column /*M! if not exists */ doing varchar(16) character set ascii collate ascii_bin not null default 'run';
