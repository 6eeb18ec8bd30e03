"""Storage verbs on counts, metrics, health and integrity."""
