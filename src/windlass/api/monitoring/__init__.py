"""Routes of counts, metrics and health."""
