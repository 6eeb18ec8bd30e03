"""A caller's own connection as a session: writes of Windlass commit with the caller's."""

from windlass.storage.callers.session import CallerSession, caller_session, drive, wire_of

__all__ = ["CallerSession", "caller_session", "drive", "wire_of"]
