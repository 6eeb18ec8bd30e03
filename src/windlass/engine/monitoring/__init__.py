"""Counts, latency, metrics, doctor, retention, alerts."""
