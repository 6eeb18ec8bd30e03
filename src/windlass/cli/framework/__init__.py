"""Basis of all commands: flags, exit codes, error reports, dry runs."""
