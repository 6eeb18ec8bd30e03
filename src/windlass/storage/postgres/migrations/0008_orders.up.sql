-- What operators want of a worker, who asked and since when; and what it does by now. Workers of the version
-- before go on, and hear of no order.
alter table windlass_workers
    add wanted text not null default 'run' check (wanted in ('run', 'drain', 'stop')),
    add wanted_by text,
    add wanted_at timestamptz,
    add doing text not null default 'run' check (doing in ('run', 'drain', 'stop'));
