-- Which tenants may have only so many open jobs.
select id, max_open from windlass_tenants where max_open is not null
