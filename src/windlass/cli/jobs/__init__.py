"""Commands on jobs, their logs and the dead letter."""
