"""What every test may use."""

pytest_plugins = ["tests.apps", "tests.databases.plugin", "tests.databases.report"]
