"""Isolation of handlers: threads, processes, fork server, commands."""
