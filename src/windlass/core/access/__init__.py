"""Rules of roles, rights, principals and the audit chain."""
