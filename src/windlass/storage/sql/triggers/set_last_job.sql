-- Notes on a trigger which job stands for its last due time.
update windlass_triggers set last_job_id = :job_id where id = :id
