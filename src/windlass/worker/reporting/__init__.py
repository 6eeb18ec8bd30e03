"""What a worker records: outcomes, log lines, latency."""
