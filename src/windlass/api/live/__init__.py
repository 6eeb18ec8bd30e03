"""Live updates: one poller per process, shared by all its streams."""
