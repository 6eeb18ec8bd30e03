"""Integrations, one file per framework or service; each imports its package on use."""
