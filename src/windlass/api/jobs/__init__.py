"""Routes of jobs, the dead letter, bulk operations and logs."""
