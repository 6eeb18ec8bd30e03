"""HTML pages rendered by the server, without script."""
