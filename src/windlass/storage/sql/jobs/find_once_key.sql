-- Returns the completed job that holds this `ctx.once` key of its tenant.
select job_id from windlass_done where tenant_id = :tenant_id and {name key} = :key
