-- Returns the listed chains by number, past number `after` and up to `last`.
select tenant_id, number, signature from windlass_audit_chains
where number > :after and number <= :last
order by number limit :most
