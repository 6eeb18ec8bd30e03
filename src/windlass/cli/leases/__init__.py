"""Commands on queues and workers."""
