"""Keeping leases alive: heartbeat, renewal, watchdog, lost claims."""
