"""The link by which whoever starts a server signs in first."""

from windlass.engine.engine import Engine
from windlass.errors import UserExists

_ADMIN = "admin"


async def sign_in_url(engine: Engine, server: str) -> str:
    """An address that signs an administrator in, once; where that name is somebody else's, what to
    type instead."""
    try:
        return f"{server}{(await engine.users.first_admin(_ADMIN)).path}"
    except UserExists:
        return "windlass users create NAME"
