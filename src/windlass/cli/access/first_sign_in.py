"""The links for the first administrator, printed by a starting server."""

from windlass.engine.engine import Engine
from windlass.errors import UserExists

_INSTEAD = "windlass users create NAME"


async def sign_in_url(engine: Engine, server: str) -> str:
    """Return a one-time address that signs an administrator in, or the command to run instead if
    that user name is taken. Without the dashboard it leads to the sign-in page."""
    try:
        return f"{server}/?key={(await engine.users.first_admin()).secret}"
    except UserExists:
        return _INSTEAD


async def setup_url(engine: Engine, server: str) -> str:
    """Return a one-time address where the first administrator chooses name and password, or the
    command to run instead. Without the dashboard it leads to a form for the password alone."""
    try:
        return f"{server}{(await engine.users.setup_link()).path}"
    except UserExists:
        return _INSTEAD
