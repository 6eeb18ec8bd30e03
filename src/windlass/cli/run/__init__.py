"""Commands that keep running: worker, scheduler, serve."""
