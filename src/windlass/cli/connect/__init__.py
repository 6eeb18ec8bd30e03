"""How a command reaches the jobs: contexts, targets, saved logins, local and remote APIs."""
