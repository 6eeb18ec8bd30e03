"""Chaos runs: real processes and databases under a seeded mix of faults, judged from outside.

`python -m tests.chaos --setup sqlite` starts producers, workers, schedulers, a server and an
operator as a user would, injects faults while they work, and afterwards compares what the ledger
says with what the database says. `checker.py` holds the invariants; it needs no process.
"""
