-- The mutes that hold for a tenant, or for all; those of all tenants come first.
select * from windlass_mutes
where (cast(:definition as text) is null or definition = :definition)
    and (cast(:fingerprint as text) is null or fingerprint = :fingerprint)
    and tenant_id in ('', coalesce(cast(:tenant_id as text), ''))
    and (muted_until is null or muted_until > {now})
order by definition, fingerprint, tenant_id
