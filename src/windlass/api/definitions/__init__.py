"""Routes of definitions."""
