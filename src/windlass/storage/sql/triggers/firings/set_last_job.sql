-- Records the job of a trigger's last due time.
update windlass_triggers set last_job_id = :job_id where id = :id
