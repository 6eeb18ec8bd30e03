"""Payloads: JSON, schemas, field errors, redaction, secrets."""
