"""Commands on definitions."""
