"""Enqueue, find, change, cancel, retry, explain; dead letter, logs, bulk operations."""
