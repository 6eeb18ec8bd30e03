"""Storage verbs on definitions, tenants and workers."""
