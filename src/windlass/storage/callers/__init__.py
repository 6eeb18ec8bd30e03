"""A caller's own connection as a session: what Windlass stores there commits with the caller."""

from windlass.storage.callers.session import CallerSession, caller_session, drive

__all__ = ["CallerSession", "caller_session", "drive"]
