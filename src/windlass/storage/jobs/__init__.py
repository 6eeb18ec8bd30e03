"""Storage verbs on jobs, lists, the dead letter and bulk operations."""
