-- What operators want of a worker, who asked and since when; and what it does by now. Workers of the version
-- before go on, and hear of no order.
alter table windlass_workers add column wanted text not null default 'run' check (wanted in ('run', 'drain', 'stop'));
alter table windlass_workers add column wanted_by text;
alter table windlass_workers add column wanted_at integer;
alter table windlass_workers add column doing text not null default 'run' check (doing in ('run', 'drain', 'stop'));
