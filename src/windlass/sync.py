"""Windlass for blocking programs: `from windlass.sync import Windlass`."""

from windlass.app.sync import Windlass

__all__ = ["Windlass"]
