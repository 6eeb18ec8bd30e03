-- Deletes some log lines of one definition that are past their retention.

-- let past
select number from windlass_logs
where definition = :definition
    and created_at < {now} - cast(round(:days * 86400000000.0) as integer)
order by created_at limit :most;

-- answer
select count(*) as pruned from {past} p;

delete from windlass_logs where number in (select number from {past} p)
