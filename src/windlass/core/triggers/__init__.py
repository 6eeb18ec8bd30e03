"""Rules of triggers: cron, time zones, conditions, templates."""
