"""What every test may use."""

from hypothesis import settings

# How long an example takes is the machine's business, not a test's.
settings.register_profile("unhurried", settings(deadline=None))
settings.load_profile("unhurried")

pytest_plugins = ["tests.apps", "tests.databases.plugin", "tests.databases.report"]
