"""Storage verbs on tenants, users, credentials and the audit."""
