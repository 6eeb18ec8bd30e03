-- What was said about a queue.
select * from windlass_queues where name = :name
