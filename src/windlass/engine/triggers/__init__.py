"""Schedules, triggers and events, and the jobs they create."""
