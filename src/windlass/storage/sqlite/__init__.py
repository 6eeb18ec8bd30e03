"""SQLite 3.40 and newer, by the standard library: one machine, several processes."""
