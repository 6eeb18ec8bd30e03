"""`windlass dev` and `windlass init`: reload, keys, prompt, demo, project template."""
