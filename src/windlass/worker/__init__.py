"""Runs attempts: claims jobs into free slots, keeps their leases alive, records how they end."""
