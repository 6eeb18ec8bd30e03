"""Commands on the installation: database, settings, doctor, version."""
