-- Returns the ids among these that are stored, in whichever table.
select id from windlass_jobs where id = any(array(select id from {ids} i))
