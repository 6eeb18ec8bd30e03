"""Live updates: one reader per process, and everybody who listens to what it finds."""
