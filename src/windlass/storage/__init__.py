"""The one door to a database, and to the queue."""
