"""Queues and workers, by hand."""
