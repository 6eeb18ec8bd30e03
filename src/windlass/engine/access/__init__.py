"""Tenants, users, tokens, sessions, authorization, audit."""
