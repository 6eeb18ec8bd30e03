"""The same worker over HTTP."""
