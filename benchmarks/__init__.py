"""Benchmarks: one script per question. They print ratios, never absolute promises."""
