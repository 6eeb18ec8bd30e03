"""How a handler runs: threads, processes, fork server, commands."""
