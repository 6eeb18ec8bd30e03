"""Errors of HTTP requests that are found before any verb is reached."""

from collections.abc import Sequence

from windlass.errors.base import FieldError, WindlassError
from windlass.errors.wording import counted, quoted, sentence

#: Of the fields at fault so many are named in the reason; `errors` has all.
_SHOWN = 5


class RequestInvalid(WindlassError):
    """A body, query or path that cannot be read."""

    code = "WL2101"

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__(
            "the request cannot be read.",
            reason=sentence("; ".join(map(str, errors[:_SHOWN]))),
            hint="The reference of the API is at /api/v1/openapi.json.",
            errors=errors,
        )


class PathUnknown(WindlassError):
    """No route has this path."""

    code = "WL2102"

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"there is nothing at {quoted(path)}.",
            hint="The reference of the API is at /api/v1/openapi.json.",
        )


class MethodRefused(WindlassError):
    """The path is there, but not for this method."""

    code = "WL2103"

    def __init__(self, method: str, path: str, *, allowed: str = "") -> None:
        self.method = method
        super().__init__(
            f"method {method} is not allowed on {path}.",
            hint=f"Allowed: {allowed}." if allowed else "",
        )


class KeyReused(WindlassError):
    """An Idempotency-Key came with another request than the one it came with before."""

    code = "WL2105"

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(
            f"the idempotency key {quoted(key)} was used for another request.",
            reason="Body or query differ from those that came with it before.",
            hint="Use a new key per operation; reuse it only to retry the same request.",
        )


class KeyInUse(WindlassError):
    """A request with this Idempotency-Key is in progress."""

    code = "WL2106"

    def __init__(self, key: str) -> None:
        self.key = key
        self.retry_seconds = 1
        super().__init__(
            f"the request with the idempotency key {quoted(key)} is in progress.",
            reason="Its response is not ready yet.",
            hint="Retry in a second: both get the same response.",
        )


class StreamsFull(WindlassError):
    """Too many live streams are open."""

    code = "WL5401"

    def __init__(self, whose: str, *, most: int, retry_seconds: int = 10) -> None:
        self.whose = whose
        self.most = most
        self.retry_seconds = retry_seconds
        super().__init__(
            "no more streams can be opened.",
            reason=f"{whose} has {most} open, the most there may be.",
            hint=f"Close some, let tabs share one, or try again in {retry_seconds} seconds.",
        )


class RequestsThrottled(WindlassError):
    """A caller, a tenant or an address sends more requests than it may."""

    code = "WL5402"

    def __init__(self, whose: str, *, per_minute: int, retry_seconds: int) -> None:
        self.whose = whose
        self.per_minute = per_minute
        self.retry_seconds = retry_seconds
        super().__init__(
            "too many requests.",
            reason=f"{whose[:1].upper()}{whose[1:]} may make {per_minute:,} a minute.",
            hint=f"Try again in {counted(retry_seconds, 'second')}.",
        )


class OpenAccessRefused(WindlassError):
    """An API without authentication answers only this machine, under a loopback name."""

    code = "WL4431"

    def __init__(self, because: str) -> None:
        super().__init__(
            "this API has no authentication and answers only requests from its own machine.",
            reason=f"The request was refused because {because}.",
            hint="Use http://localhost or http://127.0.0.1 on that machine, or serve with "
            "authentication.",
        )


class CrossSiteRefused(WindlassError):
    """A browser sent a write for a page of another site, scheme or port."""

    code = "WL4432"

    def __init__(self) -> None:
        super().__init__(
            "this write does not come from this site.",
            reason="Sec-Fetch-Site or Origin names another site, scheme or port, or both are missing.",
            hint="Use this site's own pages, or a token outside a browser. Behind a proxy that ends TLS, "
            "set server.trusted_proxies and pass the Host header on.",
        )


class RequestRefused(WindlassError):
    """A server refused a request of this program."""

    code = "WL2104"

    def __init__(self, status: int, *, said: str) -> None:
        self.status = status
        super().__init__(
            f"the server refused a request with {status}.",
            reason=sentence(said),
            hint="Check that server and worker run the same Windlass.",
        )


class ServerUnreachable(WindlassError):
    """Nothing answers at the server's address, or it is not a working Windlass."""

    code = "WL1110"

    def __init__(self, url: str, *, cause: str) -> None:
        self.url = url
        super().__init__(
            f"cannot reach the server at {url}.",
            reason=sentence(cause),
            hint="Check that it runs (`windlass serve`) and that --url is right.",
        )


class ServerFailed(WindlassError):
    """The server failed. Its log has the cause, under the request's id."""

    code = "WL1900"

    def __init__(self) -> None:
        super().__init__(
            "an internal error occurred.",
            hint="The server's log has the cause, under the request's id.",
        )
