"""Rate limits of requests by token, by tenant, and by address for callers not known yet.

Counted in this process's memory: no lock, no question to the database. Two servers allow twice as
much.
"""

import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable

from windlass.api.routing import Depends, Request
from windlass.engine.access.login_throttle import network
from windlass.errors import RequestsThrottled
from windlass.settings.tree import ServerSettings

#: Of each kind; who was not seen for longest is forgotten first, which only lets it begin anew.
_REMEMBERED = 10_000
_MINUTE = 60.0


class RateLimiter:
    """Request budgets of credentials, tenants and addresses. Without settings there is no limit."""

    def __init__(
        self, settings: ServerSettings | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        def buckets(per_minute: Callable[[ServerSettings], int | None]) -> "TokenBuckets":
            return TokenBuckets(None if settings is None else per_minute(settings), clock)

        self._tokens = buckets(lambda said: said.requests_per_minute_per_token)
        self._workers = buckets(lambda said: said.requests_per_minute_per_worker)
        self._tenants = buckets(lambda said: said.requests_per_minute_per_tenant)
        self._addresses = buckets(lambda said: said.requests_per_minute_per_address)
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def arrive(self, request: Request) -> None:
        """Count a request before it is looked at, unless its credential was found good lately: who
        tries many must not cost a question to the database each."""
        if credential_hash(request) not in self._known:
            self.count(request)

    def count(self, request: Request) -> None:
        """Count a request against its address, once."""
        if not getattr(request.state, "counted", False):
            request.state.counted = True
            if self._addresses.limited:
                address = request.client.host if request.client else ""
                self._addresses.take(network(address), "this address")

    def reject(self, request: Request) -> None:
        """Count a request whose credential is not valid, or not any more: from now on each request
        that presents it counts against its address."""
        self._known.pop(credential_hash(request), None)
        self.count(request)

    def admit(self, request: Request, name: str | None, tenant: str | None, *, works: bool) -> None:
        """Count a request of somebody who is known; `works` is a worker's token, which has more."""
        if name is None:
            return
        self._known[credential_hash(request)] = None
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        (self._workers if works else self._tokens).take(name, "this credential")
        if tenant is not None:
            self._tenants.take(tenant, "this tenant")


class TokenBuckets:
    """A bucket for each key: it holds a minute's worth, and fills at the pace that is allowed."""

    def __init__(self, per_minute: int | None, clock: Callable[[], float]) -> None:
        self.limited = per_minute is not None
        self._per_minute = per_minute
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, whose: str) -> None:
        """Take one out, or raise RequestsThrottled."""
        if self._per_minute is None:
            return
        now, pace = self._clock(), self._per_minute / _MINUTE
        left, at = self._left.pop(key, (float(self._per_minute), now))
        left = min(self._per_minute, left + (now - at) * pace)
        if left < 1:
            self._left[key] = (left, now)
            raise RequestsThrottled(
                whose,
                per_minute=self._per_minute,
                retry_seconds=max(1, math.ceil((1 - left) / pace)),
            )
        self._left[key] = (left - 1, now)
        if len(self._left) > _REMEMBERED:
            self._left.popitem(last=False)


def credential_hash(request: Request) -> bytes:
    """The credential as it came, hashed: secrets are not kept in memory longer than needed."""
    shown = request.headers.get("authorization") or request.headers.get("cookie", "")
    return hashlib.sha256(shown.encode(errors="replace")).digest()


def rate_limiter_of(request: Request) -> RateLimiter:
    limits: RateLimiter = request.app.state.limits
    return limits


def _count(request: Request) -> None:
    rate_limiter_of(request).count(request)


#: For routes that ask for no credential, such as the one to sign in: a valid one is no way around.
Counted = Depends(_count)
