"""Storage verbs on definitions."""
