"""Rules of definitions: signatures, options, backoff, commands."""
