"""`--dry-run` for commands that write once: reads are sent, the write is printed instead.

Commands whose routes have a dry run use those: `jobs`, `schedules`, `triggers`.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import click

from windlass.cli.framework.flags import flags_of
from windlass.errors import MethodRefused, PathUnknown

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject


class DryRunRequest(Exception):
    """Ends a command at its first write; carries the request."""

    def __init__(self, method: str, at: str, body: object = None) -> None:
        super().__init__(method, at)
        self.request: dict[str, Any] = {"method": method, "path": at, "body": body}


def with_dry_run(would: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command --dry-run. `would` describes the change: `create the tenant {tenant_id}`."""

    def remember(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        if value:
            flags_of(ctx).would = would

    return click.option(
        "--dry-run",
        is_flag=True,
        expose_value=False,
        callback=remember,
        help="Show what would be done, and do nothing.",
    )


def dry_run_client(client: "Client") -> "Client":
    """A client that reads, and raises DryRunRequest at the first write."""
    from windlass.cli.connect.api_client import Client

    class DryRunClient(Client):
        async def post(self, at: str, body: object = None, **params: Any) -> "JsonObject":
            # `/jobs/id/verb` changes `/jobs/id`; `/jobs` creates a job.
            await self._look(at.rpartition("/")[0])
            self._end("POST", at, body)

        async def patch(self, at: str, body: object, **params: Any) -> "JsonObject":
            await self._look(at)
            self._end("PATCH", at, body)

        async def delete(self, at: str, **params: Any) -> "JsonObject":
            await self._look(at)
            self._end("DELETE", at)

        async def _look(self, at: str) -> None:
            """Read the thing, so that a missing one is an error. Some paths cannot be read."""
            if at.count("/") > 1:
                with suppress(PathUnknown, MethodRefused):
                    await self.get(at)

        def _end(self, method: str, at: str, body: object = None) -> NoReturn:
            raise DryRunRequest(method, at, body)

    return client.as_kind(DryRunClient)
