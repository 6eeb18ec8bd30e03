-- The mutes that hold for a tenant, or for all; those of all tenants come first.
select * from windlass_mutes
where ({text :definition} is null or definition = :definition)
    and ({text :fingerprint} is null or fingerprint = :fingerprint)
    and tenant_id in ('', coalesce({text :tenant_id}, ''))
    and (muted_until is null or muted_until > {now})
order by definition, fingerprint, tenant_id
