"""Counts, latency histograms, checks and alerts."""
