-- Tells whether a completed job that is kept has done this for its tenant.
select job_id from windlass_done where tenant_id = :tenant_id and {name key} = :key
