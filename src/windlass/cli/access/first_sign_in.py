"""The link for the first administrator's sign-in, printed by a starting server."""

from windlass.engine.engine import Engine
from windlass.errors import UserExists

_ADMIN = "admin"


async def sign_in_url(engine: Engine, server: str) -> str:
    """Return a one-time address that signs an administrator in, or the command to run instead if
    that user name is taken."""
    try:
        return f"{server}{(await engine.users.first_admin(_ADMIN)).path}"
    except UserExists:
        return "windlass users create NAME"
