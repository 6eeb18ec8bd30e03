"""Clean-ups of caches and logs."""
