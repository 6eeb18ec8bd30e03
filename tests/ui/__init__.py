"""A person's deeds in a browser, on a real server with a worker."""
