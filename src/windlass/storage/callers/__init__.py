"""A caller's own connection as a session: what Windlass stores there commits with the caller.

Nothing here imports a driver; a connection is known by the name of its class. What was handed
over is never committed, rolled back or closed, and its errors rise as they are.
"""

from windlass.storage.callers.session import CallerSession, caller_session, drive

__all__ = ["CallerSession", "caller_session", "drive"]
