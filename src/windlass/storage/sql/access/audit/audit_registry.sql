-- Returns how many chains are listed; no row if none ever was.
select chains, signature from windlass_audit_registry where id = 1
