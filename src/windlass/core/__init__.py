"""Rules. Pure: no I/O, no clock, no database, no framework."""
