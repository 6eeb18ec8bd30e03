"""Commands on schedules, triggers and events."""
