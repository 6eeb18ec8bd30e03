"""Telemetry of commands that ask one thing."""

from windlass.telemetry import Telemetry


class SilentTelemetry(Telemetry):
    """For a command that asks one thing: what a worker logs about its database is not for it."""

    def note(self, event: str, **about: object) -> None:
        """Not told."""

    def warn(self, event: str, **about: object) -> None:
        """Not told."""
