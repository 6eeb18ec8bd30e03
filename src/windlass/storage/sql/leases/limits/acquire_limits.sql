-- Counts running jobs under names until their leases end.
insert into windlass_holds (job_id, name) select job_id, name from {holds} h
