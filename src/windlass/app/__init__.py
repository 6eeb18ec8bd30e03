"""The Python API: declare jobs, enqueue them, query them; async and blocking."""
