"""Routes of queues, workers, and workers that work over HTTP."""
