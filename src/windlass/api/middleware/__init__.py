"""Middleware and request checks: request id, limits, idempotency, audit, errors."""
