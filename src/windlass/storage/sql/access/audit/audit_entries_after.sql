-- Returns the entries of an audit chain in order.
select * from windlass_audit
where tenant_id = :tenant_id and sequence > :after and sequence <= :last
order by sequence limit :most
