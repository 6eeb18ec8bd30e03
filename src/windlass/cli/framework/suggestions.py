"""Suggests the nearest name when a user or member is not found."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from windlass.errors import MemberNotFound, UserNotFound, WindlassError
from windlass.errors.wording import did_you_mean

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client

#: The largest number of names compared.
_MOST = 1_000


@asynccontextmanager
async def suggest_names(api: "Client", noun: str, name: str) -> AsyncIterator[None]:
    """Run a block about the user or member `name`; its error suggests the nearest name the caller
    may list."""
    try:
        yield
    except (UserNotFound, MemberNotFound) as error:
        try:
            known = (await api.page(f"/{noun}", limit=_MOST))["items"]
        except WindlassError:  # the caller has no right to list them
            known = []
        error.hint = did_you_mean(name, [one["name"] for one in known]) + error.hint
        raise
