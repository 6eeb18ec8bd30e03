"""Leases of a worker: renewal, heartbeat, cancel polling, watchdog, recovery of lost claims."""
