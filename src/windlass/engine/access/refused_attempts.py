"""Refused attempts in the audit: recorded one by one, up to a limit per principal, then counted.

Without a limit a loop of refused requests would fill the disk. Each process counts on its own.
"""

from dataclasses import dataclass

from windlass import clock
from windlass.core.access.audit import Target
from windlass.core.access.principal import Principal
from windlass.engine.access.audit import Audit
from windlass.tasks import all_tenants

#: Refusals of one principal that are recorded one by one within the window below.
LIMIT = 20
_WINDOW_SECONDS = 60.0
#: Principals counted at the same time; beyond that the oldest counts are written.
_MOST_PRINCIPALS = 10_000
#: The action of an entry that stands for many.
COUNTED = "refusals.counted"


@dataclass(slots=True)
class _Window:
    by: Principal
    tenant: str | None
    since: float
    recorded: int = 0
    counted: int = 0


class Refusals:
    def __init__(self, audit: Audit) -> None:
        self._audit = audit
        self._windows: dict[tuple[str, str | None], _Window] = {}

    async def record(
        self,
        by: Principal,
        right: str,
        target: Target,
        *,
        tenant: str | None,
        code: str | None = None,
        request_id: str | None = None,
    ) -> None:
        """Record a refused attempt in the principal's chain; `code` is the code of the returned
        error. Only count it if the principal was refused too often in the last minute."""
        await self.flush()
        window = self._window(by, tenant)
        if window.recorded >= LIMIT:
            window.counted += 1
            return
        window.recorded += 1
        with all_tenants():
            await self._audit.record(
                by,
                right,
                target,
                tenant=tenant,
                outcome="refused",
                after=None if code is None else {"code": code},
                request_id=request_id,
            )

    async def flush(self, *, everything: bool = False) -> None:
        """Write the counts whose minute is over, each as one entry; with `everything`, all."""
        before = clock.monotonic() - _WINDOW_SECONDS
        excess = len(self._windows) - _MOST_PRINCIPALS
        for place, (key, window) in enumerate(list(self._windows.items())):
            if not everything and window.since > before and place >= excess:
                break  # windows are in the order in which they began
            self._windows.pop(key, None)
            if window.counted:
                with all_tenants():
                    await self._audit.record(
                        window.by,
                        COUNTED,
                        Target("refusals"),
                        tenant=window.tenant,
                        outcome="refused",
                        after={"refused": window.counted},
                    )

    def _window(self, by: Principal, tenant: str | None) -> _Window:
        return self._windows.setdefault((by.actor, tenant), _Window(by, tenant, clock.monotonic()))
