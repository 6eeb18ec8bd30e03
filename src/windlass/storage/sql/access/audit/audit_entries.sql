-- Returns the entries of an audit chain, newest first.
select * from windlass_audit
where tenant_id = :tenant_id and ({bigint :before} is null or sequence < :before)
order by sequence desc limit :most
