"""Callers: sign-in, credentials, and routes of users, tenants, members, tokens and audit."""
