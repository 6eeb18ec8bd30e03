"""What all commands share: flags, exit codes, error reports, dry runs."""
