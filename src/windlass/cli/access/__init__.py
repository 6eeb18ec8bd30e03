"""Commands on tenants, members, users, tokens, logins and the audit."""
