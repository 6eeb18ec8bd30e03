"""Every screen of the dashboard, by an address that shows it filled."""

from collections.abc import Awaitable, Callable

from windlass import Windlass

SCREENS = (
    "/", "/jobs", "/dead", "/definitions", "/definitions/payment.charge", "/schedules", "/events",
    "/workers", "/queues", "/queues/letters", "/logs", "/tenants", "/tenants/acme", "/fleet",
    "/audit", "/settings", "/account", "/operations",
)  # fmt: skip
#: Pages that nobody has to sign in for.
SIGNED_OUT = ("/sign-in", "/setup?key=unknown")


async def _first_of_jobs(wl: Windlass, state: str) -> str:
    page = await wl.jobs.list(f"state:{state}", limit=1)
    return f"/jobs/{page.jobs[0].id}"


async def _failed_job(wl: Windlass) -> str:
    return await _first_of_jobs(wl, "dead_letter")


async def _running_job(wl: Windlass) -> str:
    return await _first_of_jobs(wl, "running")


#: Screens whose address has to be looked up.
DETAILS: dict[str, Callable[[Windlass], Awaitable[str]]] = {
    "a failed job": _failed_job,
    "a running job": _running_job,
}
