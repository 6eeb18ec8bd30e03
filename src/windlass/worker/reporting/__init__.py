"""Recording of a worker's outcomes, log lines and latency."""
