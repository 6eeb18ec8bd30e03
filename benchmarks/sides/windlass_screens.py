"""Windlass' routes behind the dashboard: `windlass_screens.py routes URL ROUNDS` prints their p95 in ms.

`seed URL` leaves one job in line and one schedule, to be copied.
"""

import time
from collections.abc import Mapping
from statistics import quantiles

import httpx2

from benchmarks.sides.windlass_app import PAYLOAD, Verb, app, main
from windlass.api.access.callers import open_access
from windlass.api.app import create_api

ROUTES = (
    "/jobs/summary",
    "/jobs",
    "/jobs?state=dead_letter",
    "/jobs?q=state:queued&tenant=t7",
    "/dead/groups",
    "/definitions",
    "/schedules",
    "/triggers",
    "/events",
    "/queues",
    "/workers",
    "/tenants",
    "/logs",
    "/operations",
    *(f"/stats?window={window}" for window in ("5m", "1h", "24h", "7d")),
    "/stats?window=7d&tenant=t7",
    "/stats?window=7d&definition=kind1",
    *(
        f"/stats/{part}?window={window}"
        for part in ("tenants", "tenants/series", "definitions", "queues", "workers")
        for window in ("1h", "24h", "7d")
    ),
)
_MOST_MS = 3000


async def seed(url: str) -> dict[str, float]:
    """One job in line, and one schedule."""
    wl, noop, _ = app(url)
    async with wl:
        await noop.enqueue(text=PAYLOAD)
        await wl.schedules.create(
            "nightly", definition="noop", schedule="0 2 * * *", payload={"text": PAYLOAD}
        )
    return {}


async def routes(url: str, rounds: str) -> dict[str, float]:
    """How long each route takes in a server without a network."""
    wl, _, _ = app(url)
    async with wl:
        transport = httpx2.ASGITransport(create_api(wl, authenticate=open_access))
        base = "http://127.0.0.1/api/v1"
        async with httpx2.AsyncClient(transport=transport, base_url=base, timeout=120) as client:
            return {route: await _p95(client, route, int(rounds)) for route in ROUTES}


async def _p95(client: httpx2.AsyncClient, route: str, rounds: int) -> float:
    await client.get(route)  # connects, and reads what is on disk
    took: list[float] = []
    while len(took) < 2 or (len(took) < rounds and sum(took) < _MOST_MS):
        began = time.perf_counter()
        (await client.get(route)).raise_for_status()
        took.append((time.perf_counter() - began) * 1000)
    return quantiles(took, n=20)[-1]


VERBS: Mapping[str, Verb] = {"seed": seed, "routes": routes}

if __name__ == "__main__":
    main(VERBS)
