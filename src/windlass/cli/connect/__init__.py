"""Connections of commands: contexts, targets, saved logins, local and remote APIs."""
