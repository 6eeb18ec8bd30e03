-- Deletes some log lines of one definition that are past their retention.
delete from windlass_logs
where definition = :definition
    and created_at < {now} - interval round(:days * 86400000000) microsecond
order by created_at limit :most;

select row_count() as pruned
