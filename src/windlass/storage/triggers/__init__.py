"""Storage verbs on triggers and events."""
