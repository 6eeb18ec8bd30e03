"""Storage verbs on leases and upkeep."""
