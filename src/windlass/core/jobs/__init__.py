"""Rules of jobs: states, outcome, history, filters, dedupe."""
