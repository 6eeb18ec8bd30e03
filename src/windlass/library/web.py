"""Jobs that reach out: `http.request`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from windlass.app.windlass import Windlass
from windlass.core.definitions.backoff import Backoff
from windlass.errors import HttpFailed, Permanent
from windlass.library.group import GroupOptions
from windlass.library.http_client import HttpClient
from windlass.worker.context import JobContext
from windlass.worker.handlers import Handler

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

#: What may pass: the server is busy, slow or broken.
_TRANSIENT = frozenset({408, 425, 429})


@dataclass(frozen=True, kw_only=True)
class Web(GroupOptions):
    """Requests to other servers."""

    def handlers(self, app: Windlass, source: object) -> Iterator[Handler]:
        client = HttpClient(allowed_networks=app.settings.library.http_networks)
        yield self.handler(
            app,
            WebJobs(client).request,
            "http.request",
            {
                "title": "Send an HTTP request",
                "max_attempts": 5,
                "backoff": Backoff.exponential("10s", factor=4.0, cap="10m"),
                "timeout": "2m",
            },
        )


class WebJobs:
    """The handlers of the group."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client

    async def request(
        self,
        ctx: JobContext,
        url: Annotated[str, Field(max_length=8192)],
        method: Method = "GET",
        headers: Annotated[dict[str, SecretStr], Field(max_length=50)] = {},  # noqa: B006  the payload's default
        body: str | None = None,
        redirects: Annotated[int, Field(ge=0, le=5)] = 0,
    ) -> dict[str, int]:
        """Send a request; returns the status and the size of the response, which itself is not kept.

        A status that may pass is tried again; any other but 2xx ends the job at once."""
        given = {name: value.get_secret_value() for name, value in headers.items()}
        response = await self._client.send(
            method,
            url,
            headers={"idempotency-key": str(ctx.job.id), **given},
            content=None if body is None else body.encode(),
            redirects=redirects,
        )
        if not response.is_success:
            problem = f"it answered with status {response.status}"
            if response.status in _TRANSIENT or response.status >= 500:
                raise HttpFailed(response.host, problem=problem)
            raise Permanent(f"the request to {response.host} failed: {problem}")
        return {"status": response.status, "bytes": len(response.body)}
