"""Routes of schedules, triggers and events."""
