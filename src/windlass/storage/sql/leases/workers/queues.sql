-- What was said about queues, by name.
select * from windlass_queues order by name
