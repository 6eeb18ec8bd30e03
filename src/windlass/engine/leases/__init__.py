"""Claim, renew, finish, reap; workers, queues, remote workers."""
