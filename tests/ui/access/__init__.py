"""Signing in, accounts, tenants, members and tokens."""
